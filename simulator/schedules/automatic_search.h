// Finds orders of F, I and W for true costs and a memory limit: many starts, then local moves.
#pragma once

#include <optional>

#include "simulator/schedules/automatic_orders.h"

namespace headrace {

struct SearchOptions {
  ScheduleObjective objective = ScheduleObjective::kMakespan;
  double effort = 1;  ///< How much to try; 1 takes some tenths of a second at most.
};

/// The best orders found for `task`. Starts are runs of a list scheduler under rules that differ in
/// what goes first and how long a device waits (the zero-bubble papers' greedy search is among
/// them: Qi et al., ICLR'24, section 3.1), known orders and, for two stages per device, repeating
/// patterns (Qi et al., NeurIPS'24, section 3), their W placed anew; then actions are moved within
/// their rows as long as nothing gets longer. Stops at the lower bound. Deterministic; the same for
/// every thread count. Nothing where the limit holds not even one micro-batch of every stage.
/// O(effort x some 10^7 actions), at least two passes over the task.
std::optional<Orders> search_orders(const PipelineTask& task, const SearchOptions& options);

}  // namespace headrace
