// The layers of one stage as LibTorch modules, built from the plan alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model_spec.h"
#include "core/plan.h"
#include "core/result.h"
#include "models/torch/torch_model.h"

namespace headrace {

/// What all ranks agree on: the model and the ids of the layers of every stage.
struct RunModel {
  ModelSpec spec;
  TorchModelOptions options;
  std::vector<std::vector<std::string>> layers_of_stage;
};

/// A parameter with the name that people know: "layers.3.attention.weight".
struct NamedParameter {
  std::string name;
  torch::Tensor value;
};

/// One stage, ready to train.
struct StageModel {
  std::vector<std::shared_ptr<LayerModule>> layers;
  std::vector<NamedParameter> parameters;  ///< In the order of the layers.

  [[nodiscard]] torch::Tensor forward(torch::Tensor x) const;
  [[nodiscard]] std::vector<torch::Tensor> tensors() const;
};

/// Checks that the plan can be run with layers of our own. Fails with kBadInput where it has no
/// model spec, or its stages are not the model's layers in order; with kUsage where it asks for
/// what a run cannot do: replicas, tensor parallelism, recomputation.
Result<RunModel> run_model_of(const Plan& plan, std::uint64_t seed);

/// Builds the layers with these ids. Fails as `make_layer`.
Result<StageModel> build_stage(const RunModel& model, const std::vector<std::string>& layer_ids);

}  // namespace headrace
