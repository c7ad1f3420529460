#include "models/foreign_config.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace headrace {
namespace {

// transformers/activations.py, ACT2FN: the names that mean one of the functions we have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kActivations = {{
    {"gelu_new", "gelu_tanh"},
    {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"},
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"relu", "relu"},
    {"silu", "silu"},
}};

}  // namespace

ForeignConfig::ForeignConfig(const ModelSpec& config, std::string source)
    : config_(config), source_(std::move(source)) {}

const SpecValue* ForeignConfig::find(const std::string& name) const {
  for (const std::string& place : {name, "text_config." + name}) {
    const auto found = config_.values.find(place);
    if (found != config_.values.end()) return &found->second;
  }
  return nullptr;
}

std::string ForeignConfig::text(const std::string& name, const std::string& fallback) const {
  const SpecValue* value = find(name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? fallback : *text;
}

bool ForeignConfig::flag(const std::string& name, bool fallback) const {
  const SpecValue* value = find(name);
  const bool* flag = value == nullptr ? nullptr : std::get_if<bool>(value);
  return flag == nullptr ? fallback : *flag;
}

void ForeignConfig::copy(ModelSpec& spec, const std::string& ours,
                         const std::string& theirs) const {
  if (const SpecValue* value = find(theirs)) spec.values.insert_or_assign(ours, *value);
}

Result<void> ForeignConfig::require(
    ModelSpec& spec, std::initializer_list<std::pair<const char*, const char*>> names) const {
  for (const auto& [ours, theirs] : names) {
    if (find(theirs) == nullptr) {
      return Failure(error(theirs, fmt::format("{} is missing", theirs),
                           fmt::format("add {} to the configuration", theirs)));
    }
    copy(spec, ours, theirs);
  }
  return {};
}

Result<void> ForeignConfig::activation(ModelSpec& spec, const std::string& ours,
                                       const std::string& theirs,
                                       const std::string& fallback) const {
  const std::string name = text(theirs, fallback);
  for (const auto& [foreign, own] : kActivations) {
    if (foreign != name) continue;
    spec.values.insert_or_assign(ours, std::string(own));
    return {};
  }
  return Failure(error(theirs, fmt::format("the activation function '{}' is not known", name),
                       "use gelu, gelu_new, relu or silu"));
}

Error ForeignConfig::error(const std::string& name, std::string what, std::string fix) const {
  return {.code = ErrorCode::kBadInput,
          .what = std::move(what),
          .where = fmt::format("{}: /{}", source_, name),
          .fix = std::move(fix)};
}

}  // namespace headrace
