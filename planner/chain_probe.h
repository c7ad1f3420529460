// "Is there a cut within these limits?": the question that every exact search over a chain asks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/chain_costs.h"

namespace headrace {

/// Borders 0 = c_0 < … < c_S = n of a cut: stage s runs positions [c_s, c_{s+1}).
using Borders = std::vector<int>;

struct ProbeAnswer {
  std::optional<Borders> borders;  ///< Some cut within the limit, where there is one.
  /// Without a cut: no limit on time below this has one either (the limit on memory unchanged).
  std::int64_t next_time = 0;
};

/// Exact for every chain problem. Where `greedy_is_exact` it lets every stage take as much as it
/// can (Han, Narahari and Choi 1992) in O(stages log layers); elsewhere it keeps the set of
/// borders that each stage can end at: O(stages * layers) time where memory is monotone, times
/// the length of a stage where it is not; O(stages * layers) bytes.
ProbeAnswer probe_chain(const ChainCosts& costs, const ChainLimit& limit);

}  // namespace headrace
