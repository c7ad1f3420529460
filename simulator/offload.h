// Turns a schedule into one whose stages keep waiting activations in host memory.
#pragma once

#include <vector>

#include "core/schedule.h"
#include "core/units.h"
#include "simulator/simulate.h"

namespace headrace {

/// Puts OFFLOAD of a (stage, micro-batch) right behind its F, and RELOAD one computation before
/// the one that needs the activations again, so that the copy back runs beside it (as in
/// PipeOffload, Wan et al., 2025). Only for the stages marked in `offloaded` (one entry per stage),
/// and only where at least two other computations of the device lie between: else the copies could
/// not end in time to save anything. Inference is left as it is. O(actions).
Schedule with_offload(Schedule schedule, const std::vector<bool>& offloaded);

/// Sets the time of a stage's copies: what F keeps, over a link of `bandwidth` in each direction
/// that the device has for itself.
void set_offload_times(SimulationInput& input, BytesPerSecond bandwidth);

}  // namespace headrace
