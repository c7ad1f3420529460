// How much memory every device holds while a schedule runs.
#pragma once

#include <vector>

#include "core/simulation.h"
#include "core/timeline.h"
#include "simulator/simulate.h"

namespace headrace {

/// Curve and peak of every device. Activations of a (stage, micro-batch) live from the start of F
/// to the end of B, or of W where backward is split; everything else is there all the time.
struct MemoryUse {
  std::vector<MemorySample> curve;       ///< Sorted by device, then time; one sample per change.
  std::vector<double> peak_activations;  ///< Per device, in units of StageCost::activation.
  std::vector<MemoryItems> peak_items;   ///< Per device, at its peak.
};

/// Follows the compute events of `timeline`, which are sorted by device and start. O(events).
MemoryUse memory_use(const Timeline& timeline, const SimulationInput& input);

}  // namespace headrace
