#include "executor/torch/stage_model.h"

#include <utility>

#include <fmt/core.h>

#include "models/model_catalogue.h"

namespace headrace {
namespace {

Failure cannot_run(ErrorCode code, std::string where, std::string what, std::string fix) {
  return Failure({.code = code,
                  .what = std::move(what),
                  .where = "plan: " + std::move(where),
                  .fix = std::move(fix)});
}

Result<void> check_supported(const Plan& plan) {
  if (plan.parallel.data > 1 || plan.parallel.tensor > 1) {
    return cannot_run(ErrorCode::kUsage, "/parallel",
                      fmt::format("{} replicas and {} tensor-parallel ranks; a run has one of each",
                                  plan.parallel.data, plan.parallel.tensor),
                      "plan with one replica, or use --emulate");
  }
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].recompute.empty()) continue;
    return cannot_run(ErrorCode::kUsage, fmt::format("/stages/{}/recompute", s),
                      fmt::format("{} layers are to be recomputed; a run keeps all activations",
                                  plan.stages[s].recompute.size()),
                      "plan without recomputation, or use --emulate");
  }
  return {};
}

/// The stages must hold every layer of the model once, in the order data flows.
Result<void> check_layers(const Plan& plan, const std::vector<LayerFacts>& facts) {
  std::size_t next = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (std::size_t i = 0; i < plan.stages[s].layers.size(); ++i, ++next) {
      const std::string& id = plan.stages[s].layers[i];
      if (next < facts.size() && id == facts[next].id) continue;
      return cannot_run(ErrorCode::kBadInput, fmt::format("/stages/{}/layers/{}", s, i),
                        fmt::format("layer '{}' stands where the model has '{}'", id,
                                    next < facts.size() ? facts[next].id : "no more layers"),
                        "plan again from a profile of this model");
    }
  }
  if (next == facts.size()) return {};
  return cannot_run(ErrorCode::kBadInput, "/stages",
                    fmt::format("the stages hold {} of the model's {} layers", next, facts.size()),
                    "plan again from a profile of this model");
}

}  // namespace

torch::Tensor StageModel::forward(torch::Tensor x) const {
  for (const auto& layer : layers) x = layer->forward(std::move(x));
  return x;
}

std::vector<torch::Tensor> StageModel::tensors() const {
  std::vector<torch::Tensor> values;
  for (const NamedParameter& parameter : parameters) values.push_back(parameter.value);
  return values;
}

Result<RunModel> run_model_of(const Plan& plan, std::uint64_t seed) {
  if (!plan.model.spec) {
    return cannot_run(ErrorCode::kBadInput, "/model/spec",
                      "the plan says nothing of how to build its layers (an imported profile?)",
                      "run it with --emulate, or plan from a profile that headrace measured");
  }
  if (auto ok = check_supported(plan); !ok) return Failure(ok.error());
  const auto spec = complete_spec(*plan.model.spec);
  if (!spec) return Failure(spec.error());
  const auto facts = layers_of(*spec, plan.micro_batch_size, plan.sequence_length);
  if (!facts) return Failure(facts.error());
  if (auto ok = check_layers(plan, *facts); !ok) return Failure(ok.error());
  if (auto type = scalar_type_of(plan.dtype); !type) return Failure(type.error());
  RunModel model{.spec = *spec,
                 .options = {.micro_batch = plan.micro_batch_size,
                             .sequence_length = plan.sequence_length,
                             .dtype = plan.dtype,
                             .seed = seed},
                 .layers_of_stage = {}};
  for (const PlanStage& stage : plan.stages) model.layers_of_stage.push_back(stage.layers);
  return model;
}

Result<StageModel> build_stage(const RunModel& model, const std::vector<std::string>& layer_ids) {
  StageModel stage;
  for (const std::string& id : layer_ids) {
    const auto layer = make_layer(model.spec, id, model.options);
    if (!layer) return Failure(layer.error());
    for (const auto& parameter : (*layer)->named_parameters()) {
      if (!parameter.value().requires_grad()) continue;
      stage.parameters.push_back(
          {.name = fmt::format("{}.{}", id, parameter.key()), .value = parameter.value()});
    }
    stage.layers.push_back(*layer);
  }
  return stage;
}

}  // namespace headrace
