// Model descriptions: our own documents, and foreign configurations flattened to dotted names.
#include <array>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "core/json/document.h"
#include "core/json/documents.h"

namespace headrace {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kFrameKeys = {"schema", "tool", "family", "name"};

bool is_frame_key(std::string_view key) {
  return std::ranges::find(kFrameKeys, key) != kFrameKeys.end();
}

/// Adds the members of `object` under `prefix`. The parser's limit on depth bounds the recursion.
void flatten(const json& object, const std::string& prefix, const Place& place, ModelSpec& spec) {
  for (const auto& member : object.items()) {
    const json& value = member.value();
    const std::string name = prefix + member.key();
    const Place at(place, member.key());
    if (value.is_object()) flatten(value, name + ".", at, spec);
    if (value.is_structured() || value.is_null()) continue;
    if (spec.values.contains(name)) {
      at.fail(fmt::format("setting '{}' is given twice", printable(name)), "keep one of the two");
      continue;
    }
    read(value, at, spec.values[name]);
  }
}

}  // namespace

Result<ModelSpec> model_from_json(std::string_view text, std::string_view source) {
  return read_document<ModelSpec>(text, source, "model",
                                  [](ObjectReader& document, ModelSpec& model) {
                                    document.required("family", model.family);
                                    document.optional("name", model.name);
                                    document.others(is_frame_key, model.values);
                                  });
}

Result<ModelSpec> foreign_config_from_json(std::string_view text, std::string_view source) {
  const auto value = parse_strictly(text, source);
  if (!value) return Failure(value.error());
  ReadContext context{source};
  const Place root(context);
  ModelSpec spec;
  if (value->is_object()) {
    flatten(*value, "", root, spec);
  } else {
    fail_type(root, *value, "an object", "{\"model_type\": \"gpt2\"}");
  }
  if (context.error) return Failure(std::move(*context.error));
  return spec;
}

std::string to_json(const ModelSpec& model) {
  ObjectWriter document = started_document("model");
  document.required("family", model.family);
  document.optional("name", model.name);
  for (const auto& [key, value] : model.values) {
    HEADRACE_CHECK(!is_frame_key(key), "a setting has a name of its own: " + key);
    document.set(key, written(value));
  }
  return document_text(std::move(document));
}

}  // namespace headrace
