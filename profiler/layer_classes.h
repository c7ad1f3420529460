// Which layers are alike, so that each kind is measured once.
#pragma once

#include <span>
#include <vector>

#include "models/model_catalogue.h"

namespace headrace {

/// Layers that share one measurement.
struct LayerClass {
  std::vector<int> members;          ///< Positions in the chain, ascending.
  bool needs_input_gradient = true;  ///< False for the first layer of the chain.
  bool has_loss = false;             ///< True for the last.
  friend bool operator==(const LayerClass&, const LayerClass&) = default;
};

/// In the order of their first members. The first layer of the chain is a class of its own, because
/// nobody wants its input's gradient; so is the last, because the loss belongs to it.
std::vector<LayerClass> classes_of(std::span<const LayerFacts> chain);

}  // namespace headrace
