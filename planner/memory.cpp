#include "planner/memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

MemoryItems shared_state(const Layer& a, const Layer& b) {
  return {.parameters = std::min(a.parameters, b.parameters),
          .gradients = std::min(a.gradients, b.gradients),
          .optimizer = std::min(a.optimizer, b.optimizer)};
}

MemoryItems stage_memory(const ModelGraph& graph, std::span<const Bytes> border_bytes,
                         const StageExtent& extent) {
  MemoryItems items;
  Bytes saved{0};
  std::map<std::string_view, const Layer*> latest;  // Of each tie group.
  for (int position = extent.first; position < extent.last; ++position) {
    const Layer& layer = graph.layer(graph.chain_order()[at(position)]);
    items.parameters += layer.parameters;
    items.gradients += layer.gradients;
    items.optimizer += layer.optimizer;
    items.workspace = std::max(items.workspace, layer.workspace);
    saved += layer.saved_activation;
    if (layer.tie_group.empty()) continue;
    if (const Layer*& before = latest[layer.tie_group]; before != nullptr) {
      const MemoryItems shared = shared_state(*before, layer);
      items.parameters -= shared.parameters;
      items.gradients -= shared.gradients;
      items.optimizer -= shared.optimizer;
    }
    latest[layer.tie_group] = &layer;
  }
  items.activations = saved * extent.in_flight;
  items.communication = border_bytes[at(extent.first)] + border_bytes[at(extent.last)];
  return items;
}

Bytes memory_margin(Bytes capacity, double fraction) {
  const double bytes = std::ceil(static_cast<double>(capacity.value()) * fraction);
  return Bytes(static_cast<std::int64_t>(bytes));
}

std::vector<SplitTie> split_ties(const ModelGraph& graph, std::span<const int> borders) {
  struct Member {
    const Layer* layer = nullptr;
    int stage = 0;
  };
  std::vector<SplitTie> split;
  std::map<std::string_view, Member> latest;
  int stage = 0;
  for (int position = 0; position < borders.back(); ++position) {
    while (position >= borders[at(stage) + 1]) ++stage;
    const Layer& layer = graph.layer(graph.chain_order()[at(position)]);
    if (layer.tie_group.empty()) continue;
    const Member before = latest[layer.tie_group];
    if (before.layer != nullptr && before.stage != stage) {
      split.push_back({.first_layer = before.layer->id,
                       .second_layer = layer.id,
                       .first_stage = before.stage,
                       .second_stage = stage,
                       .gradient = shared_state(*before.layer, layer).gradients});
    }
    latest[layer.tie_group] = {&layer, stage};
  }
  return split;
}

}  // namespace headrace
