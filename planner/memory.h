// What a stage needs of its device's memory, item by item.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model_graph.h"
#include "core/simulation.h"

namespace headrace {

/// Positions [first, last) of the chain order, with `in_flight` micro-batches at the peak.
struct StageExtent {
  int first = 0;
  int last = 0;
  int in_flight = 1;
};

/// Parameters, gradients and optimizer state of all layers, a tied copy once per stage; in_flight
/// times the saved activations; one buffer for the tensor received and one for the tensor sent,
/// which also serve their gradients; the largest workspace. `margin` stays 0.
/// `border_bytes` is the graph's own. O(layers of the stage).
MemoryItems stage_memory(const ModelGraph& graph, std::span<const Bytes> border_bytes,
                         const StageExtent& extent);

/// What two tied layers share: the lesser of each of parameters, gradients and optimizer state.
MemoryItems shared_state(const Layer& a, const Layer& b);

/// Bytes of a device that `fraction` keeps free, rounded up.
Bytes memory_margin(Bytes capacity, double fraction);

/// Tied layers on different stages: each keeps a copy, and their gradients are added up once per
/// step.
struct SplitTie {
  std::string first_layer;
  std::string second_layer;
  int first_stage = 0;
  int second_stage = 0;
  Bytes gradient{0};  ///< All-reduced once per step.
};

/// Neighbouring members of each tie group that the cut separates, in chain order.
std::vector<SplitTie> split_ties(const ModelGraph& graph, std::span<const int> borders);

}  // namespace headrace
