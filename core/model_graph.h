// The layer graph that is planned: layers with their costs, edges with the bytes that flow.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/duration.h"
#include "core/ids.h"
#include "core/result.h"
#include "core/units.h"

namespace headrace {

/// Where a number comes from. Everything that was not measured says so.
enum class Origin { kMeasured, kInterpolated, kCatalogue, kAssumed, kImported };

/// "measured", "interpolated", "catalogue", "assumed", "imported".
std::string_view name_of(Origin origin);
std::optional<Origin> origin_from_name(std::string_view name);

/// One layer, the smallest thing a stage can hold. Times are per micro-batch on one device; bytes
/// are per micro-batch for activations, output and workspace, once for the rest.
struct Layer {
  std::string id;    ///< Unique in its graph: "layers.3".
  std::string kind;  ///< "decoder", "embedding", "head", "Conv2d(3, 64)": for people.
  Duration forward;
  Duration backward;                    ///< Whole backward: input and weight gradient.
  std::optional<Duration> input_grad;   ///< Only where the source has it.
  std::optional<Duration> weight_grad;  ///< Only where the source has it.
  Bytes parameters{0};
  Bytes gradients{0};
  Bytes optimizer{0};
  Bytes saved_activation{0};  ///< Kept from forward until backward, the layer's input included.
  Bytes output{0};            ///< Sent when the next layer is on another device.
  Bytes workspace{0};         ///< Extra peak while the layer runs.
  std::optional<Bytes> deferred_weight_grad;  ///< Held between I and W where measured.
  std::string tie_group = {};        ///< Layers of one non-empty group share their parameters.
  bool frozen = false;               ///< Trained by nobody: no weight gradient, no optimizer state.
  std::string same_as = {};          ///< Id of the layer whose measurement this one shares.
  Origin origin = Origin::kAssumed;  ///< Of every number not named in `origins`.
  std::map<std::string, Origin> origins = {};  ///< By JSON key, e.g. {"optimizer_bytes", …}.
  friend bool operator==(const Layer&, const Layer&) = default;
};

/// Data of `bytes` per micro-batch that flows from one layer to another.
struct LayerEdge {
  LayerId from{};
  LayerId to{};
  Bytes bytes{0};
  friend bool operator==(const LayerEdge&, const LayerEdge&) = default;
};

/// A directed acyclic graph of layers. Layers keep the order they were given in; `chain_order`
/// gives the topological order that planners cut. Built once, never changed.
class ModelGraph {
 public:
  ModelGraph() = default;

  /// Fails with kBadInput on an empty or duplicate id, an edge to itself or twice between the same
  /// layers, an end outside the layers, or a cycle (which is named). `where` is a JSON pointer,
  /// "/layers/3/id" or "/edges/7". O(layers + edges).
  static Result<ModelGraph> build(std::vector<Layer> layers, std::vector<LayerEdge> edges);

  [[nodiscard]] std::span<const Layer> layers() const { return layers_; }
  [[nodiscard]] std::span<const LayerEdge> edges() const { return edges_; }
  [[nodiscard]] const Layer& layer(LayerId id) const { return layers_[index_of(id)]; }
  [[nodiscard]] std::optional<LayerId> find(std::string_view id) const;

  /// Topological order; of several layers that could come next, the one with the smallest
  /// position comes first. Equal to the given order where that is topological already.
  [[nodiscard]] std::span<const LayerId> chain_order() const { return chain_order_; }

  /// Bytes that cross each border of the chain order when a tensor is relayed through every border
  /// between its producer and its last consumer: element k is the border before position k, so
  /// elements 0 and n are zero. A layer's `output` counts once per border however many consumers
  /// it has; an edge with more bytes than the output raises that to the edge's bytes.
  [[nodiscard]] std::vector<Bytes> border_bytes() const;

  friend bool operator==(const ModelGraph&, const ModelGraph&) = default;

 private:
  std::vector<Layer> layers_;
  std::vector<LayerEdge> edges_;
  std::vector<LayerId> chain_order_;
};

}  // namespace headrace
