// Equal layer counts, refused where they lose layers: the arithmetic and what to do instead.
#pragma once

#include <optional>
#include <vector>

#include "core/result.h"

namespace headrace {

/// What to do where layers do not divide evenly over devices * virtual stages.
struct UniformAlternatives {
  std::vector<int> virtual_stages;    ///< Every count per device that divides evenly, ascending.
  std::vector<int> layers_per_stage;  ///< Counts that differ by at most one, larger ones first;
                                      ///< empty where there are fewer layers than stages.
  /// Layers of the first and of the last stage such that the stages between are equal and no stage
  /// is more than one layer off; only for one stage per device.
  std::optional<std::vector<int>> first_and_last;
};

UniformAlternatives uniform_alternatives(int layers, int devices, int virtual_stages);

/// Layers per stage when `layers` are spread evenly over devices * virtual_stages stages. Fails
/// with kInfeasible where that is no whole number, naming how many layers a floor division would
/// lose and what divides, and with kUsage on a count below 1.
Result<int> uniform_split(int layers, int devices, int virtual_stages);

}  // namespace headrace
