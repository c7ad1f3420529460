// Long runs for the price of their start and end: the steady state of a pipeline repeats exactly.
#pragma once

#include <functional>
#include <optional>

#include "core/result.h"
#include "core/simulation.h"
#include "simulator/simulate.h"

namespace headrace {

/// Makes the input of a pipeline for a number of micro-batches; nothing else may change with it.
using InputOfLength = std::function<Result<SimulationInput>(int microbatches)>;

/// The report of `microbatches` micro-batches from two short simulations. With times that are whole
/// multiples of one (they are rounded to 2^-32 of the longest first) the run is a recurrence in
/// max and plus: once all actions of a stretch longer than what is in flight come exactly D later
/// than those of c micro-batches before, and the rows repeat likewise, every c further
/// micro-batches take D. Shorter runs of the same remainder mod c then differ from the long one
/// only by repeated periods, so every time of the report is linear. Nothing where no such period
/// shows (GPipe, whose forwards and backwards do not alternate; durations per action; random
/// times), or where the run is too short to gain. O(actions of the short runs x periods tried).
/// Fails as `input_of` and `simulate`.
std::optional<Simulation> simulate_long(const InputOfLength& input_of, int microbatches);

}  // namespace headrace
