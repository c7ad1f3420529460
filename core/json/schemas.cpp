// The published schemas by name.
#include "core/json/schemas.h"

#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/text.h"

namespace headrace {

Result<std::string> schema_text(std::string_view name) {
  for (const Schema& schema : embedded_schemas()) {
    if (schema.name == name) return std::string(schema.text);
  }
  const std::vector<std::string_view> names = schema_names();
  std::string all;
  for (const std::string_view known : names) {
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("no schema '{}'{}", name, did_you_mean(name, names)),
                  .where = "schema",
                  .fix = fmt::format("use one of {}", all)});
}

std::vector<std::string_view> schema_names() {
  std::vector<std::string_view> names;
  for (const Schema& schema : embedded_schemas()) names.push_back(schema.name);
  return names;
}

}  // namespace headrace
