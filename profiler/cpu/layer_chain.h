// A chain of layers run as the stages of a pipeline run it, with a clock around every layer.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/model_spec.h"
#include "core/result.h"
#include "models/model_catalogue.h"
#include "models/torch/split_backward.h"
#include "models/torch/torch_model.h"
#include "profiler/cpu/layer_memory.h"
#include "profiler/rounds.h"

namespace headrace {

/// The phases that are timed; the series of layer class c is kPhases * c + phase.
enum class Phase { kForward, kBackward, kInputGrad, kWeightGrad };
inline constexpr int kPhases = 4;

/// Layers between detached boundaries: every layer's input is a fresh leaf that holds the output of
/// the layer before. Gradients accumulate into what is there, two micro-batches are in flight, and
/// weights of repeated layers are each layer's own, so caches and allocator are met as in a run.
class LayerChain {
 public:
  /// Builds the layers at `positions` of the model's chain (ascending, first and last included, so
  /// that each takes the output of the one before). Fails as `make_layer`.
  static Result<LayerChain> build(const ModelSpec& spec, const std::vector<LayerFacts>& chain,
                                  const std::vector<int>& positions,
                                  const TorchModelOptions& options);

  /// One round: F and whole B of one micro-batch, then F, all I and all W of the next.
  /// `class_of_layer[k]` is the class of the k-th layer built.
  std::vector<Sample> round(const std::vector<int>& class_of_layer);

  /// Memory of the k-th layer built.
  [[nodiscard]] LayerMemory memory_of(std::size_t layer) const;

  /// Bytes of the k-th layer's parameters.
  [[nodiscard]] std::int64_t parameter_bytes(std::size_t layer) const;

  [[nodiscard]] std::vector<at::Tensor> parameters() const;

 private:
  /// One micro-batch between its forward and its backward.
  struct InFlight {
    std::vector<at::Tensor> inputs;
    std::vector<at::Tensor> outputs;
  };

  void forward(const std::vector<int>& class_of_layer, std::vector<Sample>& samples);
  void whole_backward(const std::vector<int>& class_of_layer, std::vector<Sample>& samples);
  void split_backward(const std::vector<int>& class_of_layer, std::vector<Sample>& samples);
  [[nodiscard]] at::Tensor loss(const at::Tensor& output) const;

  ModelSpec spec_;
  std::vector<std::shared_ptr<LayerModule>> layers_;
  std::vector<std::vector<at::Tensor>> parameters_;
  Batch batch_;
  std::deque<InFlight> in_flight_;
};

/// Seconds of a clock that never goes back; its zero means nothing.
Seconds steady_now();

}  // namespace headrace
