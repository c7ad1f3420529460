// Chains of layers, clusters and scorers in one line each.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/cluster.h"
#include "core/profile.h"

namespace headrace::testing {

/// A layer with backward twice as long as forward, as most test cases assume.
inline Layer layer_of(std::string id, std::string kind, double forward_ms) {
  Layer layer;
  layer.id = std::move(id);
  layer.kind = std::move(kind);
  layer.forward.mean = Seconds(forward_ms / 1e3);
  layer.backward.mean = Seconds(2 * forward_ms / 1e3);
  return layer;
}

/// "t0", "t1", … of kind decoder.
inline Layer decoder_of(int index, double forward_ms) {
  return layer_of("t" + std::to_string(index), "decoder", forward_ms);
}

/// The layers in a chain; each edge carries its layer's output.
inline Profile chain_profile(std::vector<Layer> layers) {
  std::vector<LayerEdge> edges;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    edges.push_back(
        {LayerId{static_cast<int>(i)}, LayerId{static_cast<int>(i) + 1}, layers[i].output});
  }
  auto graph = ModelGraph::build(std::move(layers), std::move(edges));
  HEADRACE_CHECK(graph.has_value(), "test layers form a chain");
  Profile profile;
  profile.graph = std::move(*graph);
  return profile;
}

/// Embedding `first`, `count` equal decoders and head `last`, in milliseconds of forward.
inline Profile transformer_profile(double first, int count, double decoder, double last) {
  std::vector<Layer> layers{layer_of("E", "embedding", first)};
  for (int i = 0; i < count; ++i) layers.push_back(decoder_of(i, decoder));
  layers.push_back(layer_of("H", "head", last));
  return chain_profile(std::move(layers));
}

}  // namespace headrace::testing
