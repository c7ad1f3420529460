// No schedule of these stages can be shorter: lower bounds to hold schedules against.
#pragma once

#include <string_view>

#include "simulator/schedule_costs.h"

namespace headrace {

/// A bound and the argument that gives it.
struct ScheduleBound {
  Seconds time{0};
  /// "work": the busiest device's; "fill": what a device waits for its first input on top; "chain":
  /// the way of one micro-batch to the last stage, all work there, the way back; "memory": a device
  /// that may not start enough forwards to bridge the wait for its first gradient.
  std::string_view argument = "work";
};

/// For any order within the limits, over unequal stages and hops. Section 5 of the zero-bubble
/// papers' argument generalised with prefix sums: work and memory bound the span, fill the
/// makespan, chain both. O(stages).
ScheduleBound schedule_bound(const PipelineTask& task, ScheduleObjective objective);

/// Its time alone.
Seconds lower_bound(const PipelineTask& task, ScheduleObjective objective);

}  // namespace headrace
