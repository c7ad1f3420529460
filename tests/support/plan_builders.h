// Small plans that can really be run: tiny models cut into stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "core/plan.h"
#include "models/model_catalogue.h"

namespace headrace::testing {

inline ModelSpec tiny_gpt() {
  return {.family = "gpt2",
          .name = "tiny-gpt",
          .values = {{"hidden_size", std::int64_t{16}},
                     {"num_layers", std::int64_t{4}},
                     {"num_heads", std::int64_t{2}},
                     {"vocab_size", std::int64_t{40}},
                     {"max_positions", std::int64_t{12}},
                     {"sequence_length", std::int64_t{8}}}};
}

inline ModelSpec tiny_encoder() {
  return {.family = "encoder",
          .name = "tiny-encoder",
          .values = {{"hidden_size", std::int64_t{16}},
                     {"num_layers", std::int64_t{4}},
                     {"num_heads", std::int64_t{2}},
                     {"intermediate_size", std::int64_t{32}},
                     {"sequence_length", std::int64_t{5}}}};
}

inline ModelSpec tiny_mlp() {
  return {.family = "mlp",
          .name = "tiny-mlp",
          .values = {{"input_size", std::int64_t{12}},
                     {"hidden_size", std::int64_t{24}},
                     {"num_layers", std::int64_t{4}},
                     {"num_classes", std::int64_t{5}}}};
}

/// The model's layers in `stages` stages of nearly equal numbers of layers, stage s on device s.
inline Plan runnable_plan(const ModelSpec& spec, int stages, int microbatches) {
  const auto facts = layers_of(spec, 2, 0);
  REQUIRE_MESSAGE(facts.has_value(), (facts ? "" : to_string(facts.error())));
  Plan plan;
  plan.inputs.profile_file = "profile.json";
  plan.inputs.profile_fingerprint = "none";
  plan.inputs.cluster = uniform_cluster(stages, std::nullopt, {});
  plan.model = {.name = spec.name, .source = spec.name, .spec = spec};
  plan.parallel.pipeline = stages;
  plan.micro_batch_size = 2;
  plan.microbatches = microbatches;
  plan.global_batch = 2 * microbatches;
  plan.optimizer = "adam";
  const std::size_t layers = facts->size();
  for (int s = 0; s < stages; ++s) {
    PlanStage& stage = plan.stages.emplace_back();
    stage.devices = {fmt::format("device{}", s)};
    const auto first = layers * static_cast<std::size_t>(s) / static_cast<std::size_t>(stages);
    const auto last = layers * static_cast<std::size_t>(s + 1) / static_cast<std::size_t>(stages);
    for (std::size_t i = first; i < last; ++i) stage.layers.push_back((*facts)[i].id);
  }
  return plan;
}

}  // namespace headrace::testing
