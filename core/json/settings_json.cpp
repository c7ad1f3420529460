#include "core/json/settings_json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/json/strict_parse.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

Failure bad_setting(std::string_view source, const std::string& pointer, const Json& value) {
  return Failure(
      {.code = ErrorCode::kBadInput,
       .what = std::string("a setting cannot be ") + (value.is_null() ? "null" : value.type_name()),
       .where = place_text(source, pointer),
       .fix = "give a text, a number, true or false, or a list of these"});
}

Result<std::string> text_of(const Json& value, std::string_view source,
                            const std::string& pointer) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  return bad_setting(source, pointer, value);
}

Result<Setting> setting_of(std::string name, const Json& value, std::string_view source,
                           const std::string& pointer) {
  Setting setting{std::move(name), {}};
  if (!value.is_array()) {
    auto text = text_of(value, source, pointer);
    if (!text) return Failure(text.error());
    setting.values.push_back(*std::move(text));
    return setting;
  }
  for (const Json& element : value) {
    auto text = text_of(element, source, pointer + "/" + std::to_string(setting.values.size()));
    if (!text) return Failure(text.error());
    setting.values.push_back(*std::move(text));
  }
  return setting;
}

}  // namespace

Result<std::vector<Setting>> settings_from_json(std::string_view text, std::string_view source) {
  const auto document = parse_strictly(text, source);
  if (!document) return Failure(document.error());
  if (!document->is_object()) return bad_setting(source, "", *document);
  std::vector<Setting> settings;
  const auto append = [&](std::string name, const Json& value,
                          const std::string& pointer) -> Result<void> {
    auto setting = setting_of(std::move(name), value, source, pointer);
    if (!setting) return Failure(setting.error());
    settings.push_back(*std::move(setting));
    return {};
  };
  for (const auto& [key, value] : document->items()) {
    const std::string pointer = pointer_step(key);
    if (!value.is_object()) {
      if (auto ok = append(key, value, pointer); !ok) return Failure(ok.error());
      continue;
    }
    for (const auto& [inner, inner_value] : value.items()) {
      if (auto ok = append(key + "." + inner, inner_value, pointer + pointer_step(inner)); !ok) {
        return Failure(ok.error());
      }
    }
  }
  return settings;
}

}  // namespace headrace
