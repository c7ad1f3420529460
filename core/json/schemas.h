// The schema files as they were when this program was built.
#pragma once

#include <span>
#include <string_view>

namespace headrace {

struct Schema {
  std::string_view name;
  std::string_view text;
};

/// All schemas, in the order of core/json/CMakeLists.txt. The definition is generated.
std::span<const Schema> embedded_schemas();

}  // namespace headrace
