// How much memory every device holds while a schedule runs.
#pragma once

#include <vector>

#include "core/simulation.h"
#include "core/timeline.h"
#include "simulator/simulate.h"

namespace headrace {

/// Curve and peak of every device. What a (stage, micro-batch) holds:
///   F starts      saved activations, or only the stage's input where R follows
///   R starts      the rest of the saved activations
///   I             its output gradients on top; what is held then belongs to the deferred W
///   OFFLOAD ends  nothing, until RELOAD starts: the host holds it
///   B or W ends   nothing
/// A message between devices is held by both ends from the end of what makes it to the start of
/// what needs it, by the sender at most as long as it travels; the buffers that a plan reserves for
/// messages are the least. Parameters (all versions), gradients and optimizer state are there all
/// the time; workspace and margin are those of the stage that needs most.
struct MemoryUse {
  std::vector<MemorySample> curve;       ///< Sorted by device, then time; one sample per change.
  std::vector<double> peak_activations;  ///< Per device, in units of StageCost::activation.
  std::vector<MemoryItems> peak_items;   ///< Per device, at its peak.
  std::vector<Bytes> peak_host;          ///< Per device, of what it offloaded.
};

/// Follows the compute events of `timeline`, which are sorted by device and start.
/// O(events log events).
MemoryUse memory_use(const Timeline& timeline, const SimulationInput& input);

}  // namespace headrace
