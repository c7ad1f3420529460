// Answers to "what if": one row per variation of a plan, and what small changes would do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace headrace {

/// What one variation comes to.
struct WhatIfResult {
  Seconds iteration{0};
  /// Time per sample (per micro-batch where the batch is unknown) over that of the first row,
  /// minus 1.
  double change = 0;
  double bubble_ratio = 0;
  double peak_activations = 0;        ///< Of the device that holds most.
  Bytes peak_memory{0};               ///< Of the device that holds most.
  std::optional<Bytes> missing = {};  ///< By how much the worst device runs out of memory.
  std::int64_t messages = 0;          ///< Between devices, per iteration.
  Bytes traffic{0};                   ///< Their bytes.
  double microbatches_per_s = 0;
  std::optional<double> samples_per_s = {};
  bool pareto = false;  ///< No other row that fits is as good in time, memory and traffic.
  friend bool operator==(const WhatIfResult&, const WhatIfResult&) = default;
};

struct WhatIfRow {
  std::vector<std::string> values;  ///< One per key; empty in the row of the plan as it is.
  std::optional<WhatIfResult> result = {};
  std::string problem = {};  ///< Why there is no result.
  std::string note = {};     ///< What was assumed: "cut by bottleneck".
  friend bool operator==(const WhatIfRow&, const WhatIfRow&) = default;
};

/// Iteration time when one thing takes `share` longer.
struct Sensitivity {
  std::string what;   ///< "stage 2", "link 0-1", "layer head".
  double change = 0;  ///< Of the iteration, as a share.
  friend bool operator==(const Sensitivity&, const Sensitivity&) = default;
};

struct WhatIf {
  std::vector<std::string> keys;
  std::vector<WhatIfRow>
      rows;  ///< The first is the plan as it is, the others in order of interest.
  double sensitivity_share = 0;
  std::vector<Sensitivity> sensitivities = {};  ///< Largest first.
  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

}  // namespace headrace
