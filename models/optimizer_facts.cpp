#include "models/optimizer_facts.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"

namespace headrace {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kStatePerParameter = {{
    {"sgd", 0},
    {"momentum", 1},
    {"adam", 2},
}};

}  // namespace

std::vector<std::string_view> optimizer_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kStatePerParameter) names.push_back(entry.first);
  return names;
}

Result<std::int64_t> optimizer_state_per_parameter(std::string_view optimizer) {
  for (const auto& [name, values] : kStatePerParameter) {
    if (name == optimizer) return values;
  }
  const auto names = optimizer_names();
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("there is no optimizer '{}'{}", optimizer,
                                      did_you_mean(optimizer, names)),
                  .where = "--optimizer",
                  .fix = fmt::format("use one of {}", fmt::join(names, ", "))});
}

}  // namespace headrace
