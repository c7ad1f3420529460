// Starting points of the search: orders that are known to be good, and repeating patterns.
#pragma once

#include <vector>

#include "simulator/schedules/automatic_orders.h"

namespace headrace {

/// True for two stages per device, the second half of them folded back (V).
bool is_folded_once(const PipelineTask& task);

/// Orders of F and I to place W into: for one stage per device 1F1B with different warm-ups and
/// ZB-H1, for a V the order of ZB-V.
std::vector<Orders> known_orders(const PipelineTask& task);

/// A building block of a V that repeats every 6 slots: slots from one device to the next on the
/// four ways of a micro-batch, forward down and up, backward down and up.
struct FoldedPattern {
  int forward_down = 1;
  int forward_up = 1;
  int backward_down = 1;
  int backward_up = 1;
};

/// All patterns of 1 to 4 slots per hop; the short ones hold little in flight.
std::vector<FoldedPattern> folded_patterns();

/// F and I of every device in the order of their slots.
Orders pattern_orders(const PipelineTask& task, const FoldedPattern& pattern);

}  // namespace headrace
