// The settings of a model spec: which exist, what they may be, and how to read them once checked.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model_spec.h"
#include "core/result.h"

namespace headrace {

enum class SettingKind {
  kSize,    ///< Whole number from `minimum` to `maximum`.
  kFlag,    ///< true or false.
  kNumber,  ///< Positive real number.
  kChoice,  ///< One of `choices`.
};

/// One setting a family knows.
struct Setting {
  std::string_view name;
  SettingKind kind = SettingKind::kSize;
  std::optional<SpecValue> fallback = {};  ///< Absent: must be given, or is derived by the family.
  bool derived = false;  ///< The family fills it in from others where it is absent.
  std::int64_t minimum = 1;
  std::int64_t maximum = std::numeric_limits<std::int32_t>::max();
  std::vector<std::string_view> choices = {};
};

/// A number of layers: small enough that a chain of them can be held.
Setting layer_count_setting(std::string_view name);

/// Checks every value of `spec` against `settings` and fills in the fallbacks. Fails with
/// kBadInput; `where` is the spec's name and "/SETTING".
Result<ModelSpec> check_settings(const ModelSpec& spec, std::span<const Setting> settings);

/// A kBadInput error about one setting of `spec`.
Error setting_error(const ModelSpec& spec, std::string_view setting, std::string what,
                    std::string fix);

// Reading a checked spec: the setting must exist and have the type.
std::int64_t size_of(const ModelSpec& spec, const std::string& setting);
bool flag_of(const ModelSpec& spec, const std::string& setting);
double number_of(const ModelSpec& spec, const std::string& setting);
const std::string& choice_of(const ModelSpec& spec, const std::string& setting);
bool has_setting(const ModelSpec& spec, const std::string& setting);

}  // namespace headrace
