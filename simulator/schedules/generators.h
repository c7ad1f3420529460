// The schedules that Headrace can make, one file each; schedule_catalogue.cpp holds their table.
#pragma once

#include "core/result.h"
#include "core/schedule.h"
#include "simulator/schedule_catalogue.h"

namespace headrace {

/// All forwards, then all backwards in the same order. GPipe (NeurIPS'19), section 2.3; the
/// backward order is that of torch.distributed.pipelining. m = 3, 2 stages, F = B = 1:
///   stage 0 | F0 F1 F2 .  .  B0 B1 B2
///   stage 1 | .  F0 F1 F2 B0 B1 B2 .
/// Peak activations M on every device.
Result<Schedule> gpipe_schedule(const ScheduleRequest& request);

/// One forward, one backward (PipeDream-Flush, DAPPLE). Stage s starts min(S - 1 - s, M) forwards,
/// then alternates F and B, then drains. m = 3, 2 stages, F = B = 1:
///   stage 0 | F0 F1 .  B0 F2 B1 .  B2
///   stage 1 | .  F0 B0 F1 B1 F2 B2 .
/// Same bubble as GPipe, peak activations min(S - s, M).
Result<Schedule> one_forward_one_backward_schedule(const ScheduleRequest& request);

/// A schedule without actions: one stage per device in order. Generators fill its rows.
Schedule empty_chain_schedule(const ScheduleRequest& request);

/// Fails with kInfeasible unless there is exactly one stage per device.
Result<void> require_one_stage_per_device(const ScheduleRequest& request);

}  // namespace headrace
