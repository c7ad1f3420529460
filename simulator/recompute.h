// Turns a schedule into one whose stages compute their forward again before the backward.
#pragma once

#include <vector>

#include "core/schedule.h"

namespace headrace {

/// Puts R of a (stage, micro-batch) right before its B or I, for every stage marked in
/// `recomputed` (one entry per stage). A device reaches R as soon as it is free, so R fills the
/// time in which the gradient is awaited. Of an overlapped pair both go behind R. O(actions).
Schedule with_recompute(Schedule schedule, const std::vector<bool>& recomputed);

}  // namespace headrace
