// Times many variations of a pipeline side by side.
#pragma once

#include <span>
#include <vector>

#include "core/result.h"
#include "core/what_if.h"
#include "simulator/simulate.h"

namespace headrace {

struct WhatIfOptions {
  int threads = 1;
  /// With the memory curve of `simulate`, message buffers included; without it activations are
  /// counted in the order of the rows, which is exact for them and some ten times faster.
  bool detailed = true;
};

/// Evaluates every input; the answers stand in the order of the inputs, whatever the thread count.
/// `change` and `pareto` are left to `rank`. Fails one by one, as `simulate`.
std::vector<Result<WhatIfResult>> evaluate(std::span<const SimulationInput> inputs,
                                           const WhatIfOptions& options = {});

/// Time of one sample, of one micro-batch where the batch is unknown: iterations of different sizes
/// compare by it.
Seconds time_per_unit(const WhatIfResult& result);

/// Fills `change` against the first row and marks the Pareto front of time, peak memory (or
/// activations where bytes are unknown) and traffic (or messages) among the rows that fit.
/// O(rows²).
void rank(std::vector<WhatIfRow>& rows);

}  // namespace headrace
