// The layers of models/model_catalogue.h as LibTorch modules, with the data and the loss to train
// them on. Every weight depends on the seed and the layer's id alone, never on who builds it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <torch/nn/module.h>
#include <torch/types.h>

#include "core/model_spec.h"
#include "core/result.h"

namespace headrace {

/// One layer. Parameters that must stay equal to another layer's are named by `tie_group`.
class LayerModule : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor x) = 0;

  /// This layer's own copy of the weight that its tie group shares; undefined where it has none.
  /// Copies start equal. Whoever trains them sums their gradients before the optimizer's step.
  [[nodiscard]] virtual torch::Tensor tied_weight() const { return {}; }
};

/// What decides shapes, types and values; the same options everywhere give the same model.
struct TorchModelOptions {
  int micro_batch = 1;
  int sequence_length = 0;     ///< 0: the spec's own.
  std::string dtype = "fp32";  ///< "fp32", "bf16" or "fp64".
  std::uint64_t seed = 0;
};

/// The element type of a dtype name; fails with kUsage on one we do not compute in.
Result<torch::ScalarType> scalar_type_of(const std::string& dtype);

/// The layer `layer_id` of `layers_of(spec)`, on the CPU, ready to train. Fails as `layers_of`,
/// with kBadInput on an unknown id, and with kUsage on an unknown dtype.
Result<std::shared_ptr<LayerModule>> make_layer(const ModelSpec& spec, const std::string& layer_id,
                                                const TorchModelOptions& options);

/// Input of the first layer and target of the loss.
struct Batch {
  torch::Tensor input;
  torch::Tensor target;
};

/// Synthetic micro-batch number `index`: equal arguments give equal data. Count `index` over all
/// iterations to train on fresh data in each. `spec` must be one that `make_layer` accepts.
Batch make_microbatch(const ModelSpec& spec, const TorchModelOptions& options, std::int64_t index);

/// Mean loss of one micro-batch: cross entropy where the model ends in a head over classes or
/// words, mean squared error elsewhere.
torch::Tensor loss_of(const ModelSpec& spec, const torch::Tensor& output,
                      const torch::Tensor& target);

}  // namespace headrace
