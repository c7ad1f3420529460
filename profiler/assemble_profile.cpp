#include "profiler/assemble_profile.h"

#include <utility>

#include "core/json/documents.h"
#include "models/optimizer_facts.h"

namespace headrace {
namespace {

Layer layer_from(const LayerFacts& facts, const LayerCost& cost, std::int64_t optimizer_state) {
  return {.id = facts.id,
          .kind = facts.kind,
          .forward = cost.forward,
          .backward = cost.backward,
          .input_grad = cost.input_grad,
          .weight_grad = cost.weight_grad,
          .parameters = cost.parameters,
          .gradients = cost.parameters,
          .optimizer = cost.parameters * optimizer_state,
          .saved_activation = cost.saved_activation,
          .output = cost.output,
          .workspace = cost.workspace,
          .deferred_weight_grad = cost.deferred_weight_grad,
          .tie_group = facts.tie_group,
          .origin = Origin::kMeasured,
          .origins = {{"optimizer_bytes", Origin::kCatalogue}}};
}

std::vector<Layer> layers_from(const ProfileParts& parts, std::int64_t optimizer_state) {
  std::vector<Layer> layers(parts.chain.size());
  for (std::size_t c = 0; c < parts.classes.size(); ++c) {
    const std::vector<int>& members = parts.classes[c].members;
    for (const int member : members) {
      const auto position = static_cast<std::size_t>(member);
      layers[position] = layer_from(parts.chain[position], parts.costs[c], optimizer_state);
      if (member == members.front()) continue;
      layers[position].same_as = parts.chain[static_cast<std::size_t>(members.front())].id;
    }
  }
  return layers;
}

std::vector<LayerEdge> chain_edges(const std::vector<Layer>& layers) {
  std::vector<LayerEdge> edges;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    edges.push_back({.from = LayerId(static_cast<int>(i)),
                     .to = LayerId(static_cast<int>(i) + 1),
                     .bytes = layers[i].output});
  }
  return edges;
}

}  // namespace

Result<Profile> assemble_profile(const ProfileParts& parts) {
  const auto state = optimizer_state_per_parameter(parts.optimizer);
  if (!state) return Failure(state.error());
  std::vector<Layer> layers = layers_from(parts, *state);
  std::vector<LayerEdge> edges = chain_edges(layers);
  Result<ModelGraph> graph = ModelGraph::build(std::move(layers), std::move(edges));
  if (!graph) return Failure(graph.error());

  Profile profile{.model = parts.model,
                  .device = parts.device,
                  .dtype = parts.dtype,
                  .micro_batch_size = parts.micro_batch,
                  .sequence_length = parts.sequence_length,
                  .graph = std::move(*graph),
                  .optimizer_step = parts.optimizer_step,
                  .optimizer = parts.optimizer};
  profile.fingerprint = fingerprint_of(profile);
  return profile;
}

}  // namespace headrace
