#include "planner/chain_partition.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "planner/chain_costs.h"
#include "planner/chain_ties.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

std::int64_t slowest_stage(const ChainCosts& costs, const Borders& borders) {
  std::int64_t slowest = 0;
  for (int s = 0; s < costs.stages(); ++s) {
    slowest = std::max(slowest, costs.time(s, borders[at(s)], borders[at(s) + 1]));
  }
  return slowest;
}

/// With equal speeds: an even share of the work, and the heaviest layer, which nothing divides.
std::int64_t least_bottleneck(const ChainCosts& costs) {
  if (!costs.greedy_is_exact()) return 0;
  std::int64_t heaviest = 0;
  for (int i = 0; i < costs.layers(); ++i) heaviest = std::max(heaviest, costs.time(0, i, i + 1));
  const std::int64_t total = costs.time(0, 0, costs.layers());
  return std::max(heaviest, (total + costs.stages() - 1) / costs.stages());
}

std::int64_t largest_excess(const ChainCosts& costs, const Borders& borders) {
  std::int64_t excess = std::numeric_limits<std::int64_t>::min();
  for (int s = 0; s < costs.stages(); ++s) {
    excess = std::max(excess, costs.excess(s, borders[at(s)], borders[at(s) + 1]));
  }
  return excess;
}

int stage_with_excess(const ChainCosts& costs, const Borders& borders, std::int64_t excess) {
  int stage = 0;
  while (costs.excess(stage, borders[at(stage)], borders[at(stage) + 1]) != excess) ++stage;
  return stage;
}

}  // namespace

std::optional<ChainPartition> partition_chain(const ChainProblem& problem) {
  const ChainCosts costs(problem);
  auto found = probe_chain(costs, {}).borders;
  if (!found) return std::nullopt;
  // Exact bisection: a success lowers the upper end to what the cut really takes, a failure raises
  // the lower end to the least value that changes the probe's course.
  std::int64_t high = slowest_stage(costs, *found);
  std::int64_t low = std::min(high, least_bottleneck(costs));
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const ProbeAnswer answer = probe_chain(costs, {.time = middle});
    if (answer.borders) {
      high = slowest_stage(costs, *answer.borders);
    } else {
      low = std::min(high, answer.next_time);
    }
  }
  ChainPartition partition{.bottleneck = high};
  auto borders = lightest_cut(costs, {.time = high});
  HEADRACE_CHECK(borders.has_value(), "a cut within the optimum exists");
  partition.borders = std::move(*borders);
  for (int s = 1; s < costs.stages(); ++s) {
    partition.border_bytes += costs.border_bytes(partition.borders[at(s)]);
  }
  return partition;
}

ChainShortfall smallest_shortfall(const ChainProblem& problem) {
  const ChainCosts costs(problem);
  constexpr ChainLimit kUnlimited{.extra_memory = std::numeric_limits<std::int64_t>::max()};
  auto found = probe_chain(costs, kUnlimited).borders;
  HEADRACE_CHECK(found.has_value(), "without limits every cut fits");
  std::int64_t high = largest_excess(costs, *found);
  std::int64_t low = -1;  // Infeasible or of no interest: nothing is missing.
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (const auto answer = probe_chain(costs, {.extra_memory = middle}); answer.borders) {
      high = largest_excess(costs, *answer.borders);
    } else {
      low = middle;
    }
  }
  auto borders = lightest_cut(costs, {.extra_memory = std::max<std::int64_t>(high, 0)});
  HEADRACE_CHECK(borders.has_value(), "a cut with the least shortfall exists");
  const std::int64_t excess = largest_excess(costs, *borders);
  return {.bytes = excess,
          .stage = stage_with_excess(costs, *borders, excess),
          .borders = std::move(*borders)};
}

}  // namespace headrace
