#include "planner/given_split.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "core/text.h"
#include "planner/plan_builder.h"

namespace headrace {
namespace {

Failure usage(std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = "--split",
                  .fix = std::move(fix)});
}

}  // namespace

Result<Borders> borders_of_counts(std::span<const int> counts, int stages, int layers) {
  if (counts.size() != static_cast<std::size_t>(stages)) {
    return usage(fmt::format("{} numbers of layers for {} stages", counts.size(), stages),
                 "give one number for each stage");
  }
  if (std::ranges::any_of(counts, [](int count) { return count < 1; })) {
    return usage("a stage without layers", "give every stage at least 1");
  }
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (total != layers) {
    return usage(fmt::format("the stages hold {} layers, the model has {}", total, layers),
                 fmt::format("give numbers that add up to {}", layers));
  }
  Borders borders{0};
  for (const int count : counts) borders.push_back(borders.back() + count);
  return borders;
}

Result<void> check_given_fits(const Plan& plan, const PlanBuilder& builder) {
  const auto overfull = builder.overfull_stage(plan);
  if (!overfull) return {};
  const auto s = static_cast<std::size_t>(*overfull);
  return Failure({.code = ErrorCode::kInfeasible,
                  .what = fmt::format("stage {} needs {}, its device has {}", *overfull,
                                      to_text(builder.device_memory(plan, s)),
                                      to_text(*builder.device_capacity(s))),
                  .where = "--split",
                  .fix = fmt::format("give stage {} fewer layers, or drop --split", *overfull)});
}

}  // namespace headrace
