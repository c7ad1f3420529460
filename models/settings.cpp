#include "models/settings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"
#include "core/text.h"

namespace headrace {
namespace {

constexpr std::int64_t kMostLayers = 65536;

std::string text_of(const SpecValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const double* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return fmt::format("'{}'", std::get<std::string>(value));
}

std::vector<std::string_view> names_of(std::span<const Setting> settings) {
  std::vector<std::string_view> names;
  for (const Setting& setting : settings) names.push_back(setting.name);
  return names;
}

Failure wrong_value(const ModelSpec& spec, const Setting& setting, const SpecValue& value,
                    const std::string& wanted) {
  return Failure(setting_error(spec, setting.name,
                               fmt::format("{} is {}", setting.name, text_of(value)),
                               fmt::format("set {} to {}", setting.name, wanted)));
}

Result<SpecValue> checked_value(const ModelSpec& spec, const Setting& setting,
                                const SpecValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  switch (setting.kind) {
    case SettingKind::kSize:
      if (whole != nullptr && *whole >= setting.minimum && *whole <= setting.maximum) return value;
      return wrong_value(
          spec, setting, value,
          fmt::format("a whole number from {} to {}", setting.minimum, setting.maximum));
    case SettingKind::kFlag:
      if (std::holds_alternative<bool>(value)) return value;
      return wrong_value(spec, setting, value, "true or false");
    case SettingKind::kNumber: {
      const double* real = std::get_if<double>(&value);
      const double number =
          real != nullptr ? *real : (whole != nullptr ? static_cast<double>(*whole) : -1);
      if (std::isfinite(number) && number > 0) return SpecValue(number);
      return wrong_value(spec, setting, value, "a positive number");
    }
    case SettingKind::kChoice: {
      const auto* text = std::get_if<std::string>(&value);
      if (text != nullptr && std::ranges::count(setting.choices, *text) > 0) return value;
      return wrong_value(spec, setting, value,
                         fmt::format("one of {}", fmt::join(setting.choices, ", ")));
    }
  }
  HEADRACE_CHECK(false, "every kind of setting is checked");
}

}  // namespace

Error setting_error(const ModelSpec& spec, std::string_view setting, std::string what,
                    std::string fix) {
  const std::string& owner = spec.name.empty() ? spec.family : spec.name;
  return {.code = ErrorCode::kBadInput,
          .what = std::move(what),
          .where = fmt::format("{}: /{}", owner, setting),
          .fix = std::move(fix)};
}

Setting layer_count_setting(std::string_view name) {
  return {.name = name, .maximum = kMostLayers};
}

Result<ModelSpec> check_settings(const ModelSpec& spec, std::span<const Setting> settings) {
  const std::vector<std::string_view> known = names_of(settings);
  ModelSpec checked{.family = spec.family, .name = spec.name, .values = {}};
  for (const auto& [name, value] : spec.values) {
    const auto setting = std::ranges::find(settings, name, &Setting::name);
    if (setting == settings.end()) {
      return Failure(setting_error(spec, name,
                                   fmt::format("the family {} has no setting '{}'{}", spec.family,
                                               name, did_you_mean(name, known)),
                                   fmt::format("use only {}", fmt::join(known, ", "))));
    }
    Result<SpecValue> good = checked_value(spec, *setting, value);
    if (!good) return Failure(std::move(good.error()));
    checked.values.emplace(name, std::move(*good));
  }
  for (const Setting& setting : settings) {
    const std::string name(setting.name);
    if (checked.values.count(name) > 0 || setting.derived) continue;
    if (!setting.fallback) {
      return Failure(setting_error(spec, name, fmt::format("{} is missing", name),
                                   fmt::format("add {} to the model description", name)));
    }
    checked.values.emplace(name, *setting.fallback);
  }
  return checked;
}

std::int64_t size_of(const ModelSpec& spec, const std::string& setting) {
  return std::get<std::int64_t>(spec.values.at(setting));
}

bool flag_of(const ModelSpec& spec, const std::string& setting) {
  return std::get<bool>(spec.values.at(setting));
}

double number_of(const ModelSpec& spec, const std::string& setting) {
  return std::get<double>(spec.values.at(setting));
}

const std::string& choice_of(const ModelSpec& spec, const std::string& setting) {
  return std::get<std::string>(spec.values.at(setting));
}

bool has_setting(const ModelSpec& spec, const std::string& setting) {
  return spec.values.count(setting) > 0;
}

}  // namespace headrace
