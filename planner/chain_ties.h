// Among all cuts within the limits, the one that sends the fewest bytes.
#pragma once

#include <optional>

#include "planner/chain_probe.h"

namespace headrace {

/// The cut with the least sum of border bytes, of equal ones the lexicographically smallest
/// borders; absent where no cut is within the limit. Exact. O(stages * borders that a stage can
/// have) where memory is monotone, times the length of a stage where it is not.
std::optional<Borders> lightest_cut(const ChainCosts& costs, const ChainLimit& limit);

}  // namespace headrace
