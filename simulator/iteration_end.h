// What follows the last computation: gradient reduction, tied weights, optimizer.
#pragma once

#include <vector>

#include "core/timeline.h"
#include "simulator/engine.h"
#include "simulator/simulate.h"

namespace headrace {

/// How an iteration ends. A stage's gradients are reduced over its data replicas as soon as its
/// last backward is done, one stage after another on every device's network, beside what the
/// device still computes (Megatron-LM, PyTorch DDP); weights that stages share follow when all of
/// them are there; the optimizer runs when the device has everything.
struct IterationEnd {
  Seconds iteration{0};  ///< All devices wait for one another before the optimizer (global norm).
  /// No barrier: a device updates and starts its next iteration alone, and what it must not keep is
  /// found out afterwards (post-validation, Qi et al., ICLR'24, section 4): the longest time of a
  /// device from its first start to its own update.
  Seconds without_barrier{0};
  std::vector<TimelineEvent> events;  ///< REDUCE_GRAD, REDUCE_TIED, OPTIMIZER; none that take 0 s.
};

/// O(actions). A schedule without backward ends with its last computation; one without flush
/// (Schedule::flushes) updates on the way and has no end of its own.
IterationEnd iteration_end(const SimulationInput& input, const ActionTimes& times);

/// Time of one micro-batch in the steady state of a schedule that is not drained: how far apart
/// the backwards of the first stage end, over its last half before the drain. The whole makespan
/// over M where there are too few micro-batches for a steady state.
Seconds steady_microbatch(const SimulationInput& input, const ActionTimes& times);

}  // namespace headrace
