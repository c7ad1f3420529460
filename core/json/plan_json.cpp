// Plan documents: their keys. plan_check.cpp holds what must agree inside one.
#include <utility>

#include "core/json/cluster_fields.h"
#include "core/json/common_fields.h"
#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/json/plan_check.h"
#include "core/json/simulation_fields.h"

namespace headrace {
namespace {

/// A plan holds its times as plain numbers: mean and spread, each with a key of its own.
struct TimeKeys {
  std::string_view mean;
  std::string_view spread;
};

template <typename At>
void describe_time(At& at, TimeKeys keys, Of<Duration> auto& time) {
  at.required(keys.mean, time.mean);
  at.defaulted(keys.spread, time.stddev);
}

template <typename At>
void describe_time(At& at, TimeKeys keys, Of<std::optional<Duration>> auto& time) {
  if constexpr (At::kReads) {
    if (at.has(keys.mean) || at.has(keys.spread)) return describe_time(at, keys, time.emplace());
    std::optional<Seconds> absent;
    at.optional(keys.mean, absent);
    at.optional(keys.spread, absent);
  } else if (time) {
    describe_time(at, keys, *time);
  }
}

template <typename At>
void describe_memory(At& at, Of<PlanStage> auto& stage) {
  at.required("items", stage.memory);
  at.derived("total_bytes", stage.memory.total().value());
  at.optional("capacity_bytes", stage.capacity);
}

template <typename At>
void describe_stage(At& at, Of<PlanStage> auto& stage) {
  at.required("devices", stage.devices);
  at.required("layers", stage.layers);
  describe_time(at, {"forward_s", "forward_std_s"}, stage.forward);
  describe_time(at, {"backward_s", "backward_std_s"}, stage.backward);
  describe_time(at, {"input_grad_s", "input_grad_std_s"}, stage.input_grad);
  describe_time(at, {"weight_grad_s", "weight_grad_std_s"}, stage.weight_grad);
  at.defaulted("recompute", stage.recompute);
  at.required("output_bytes", stage.output);
  at.required("saved_activation_bytes", stage.saved_activation);
  at.object("memory", [&](auto& memory) { describe_memory(memory, stage); });
}

template <typename At>
void describe_inputs(At& at, Of<PlanInputs> auto& inputs) {
  at.object("profile", [&](auto& profile) {
    profile.defaulted("fingerprint", inputs.profile_fingerprint);
    profile.defaulted("file", inputs.profile_file);
  });
  at.object("cluster", [&](auto& cluster) {
    cluster.optional("file", inputs.cluster_file);
    describe(cluster, inputs.cluster);
  });
}

}  // namespace

template <typename At>
void describe(At& at, Of<Parallel> auto& parallel) {
  at.required("pipeline", parallel.pipeline, kAtLeastOne);
  at.defaulted("virtual", parallel.virtual_stages, kAtLeastOne);
  at.defaulted("data", parallel.data, kAtLeastOne);
  at.defaulted("tensor", parallel.tensor, kAtLeastOne);
}

template <typename At>
void describe(At& at, Of<TiedWeights> auto& tied) {
  at.required("stages", tied.stages);
  at.required("gradient_bytes", tied.gradient);
}

template <typename At>
void describe(At& at, Of<Baseline> auto& baseline) {
  at.required("name", baseline.name);
  at.optional("iteration_s", baseline.iteration);
  at.required("bottleneck_s", baseline.bottleneck);
  at.required("layers_per_stage", baseline.layers_per_stage);
  at.optional("note", baseline.note);
}

template <typename At>
void describe(At& at, Of<Alternative> auto& alternative) {
  at.required("schedule", alternative.schedule);
  at.required("parallel", alternative.parallel);
  at.required("micro_batch_size", alternative.micro_batch_size, kAtLeastOne);
  at.required("micro_batches", alternative.microbatches, kAtLeastOne);
  at.required("iteration_s", alternative.iteration);
  at.required("peak_memory_bytes", alternative.peak_memory);
  at.required("traffic_bytes", alternative.traffic);
  at.required("pareto", alternative.pareto);
}

template <typename At>
void describe(At& at, Of<Boundary> auto& boundary) {
  at.required("stage", boundary.stage);
  at.required("after_layer", boundary.after_layer);
  at.required("bytes", boundary.bytes);
  at.optional("one_layer_earlier_s", boundary.one_layer_earlier, Sign::kAny);
  at.optional("one_layer_later_s", boundary.one_layer_later, Sign::kAny);
}

namespace {

template <typename At>
void describe_head(At& at, Of<Plan> auto& plan) {
  at.object("inputs", [&](auto& inputs) { describe_inputs(inputs, plan.inputs); });
  at.required("model", plan.model);
  at.required("dtype", plan.dtype);
  at.defaulted("sequence_length", plan.sequence_length, kAnyCount);
  at.required("objective", plan.objective);
  at.required("parallel", plan.parallel);
  at.required("global_batch", plan.global_batch, kAnyCount);
  at.required("micro_batch_size", plan.micro_batch_size, kAnyPositive);
  at.required("micro_batches", plan.microbatches, kAtLeastOne);
  at.object("schedule", [&](auto& schedule) {
    schedule.required("name", plan.schedule);
    schedule.defaulted("parameters", plan.schedule_parameters);
  });
  at.optional("optimizer", plan.optimizer);
  at.defaulted("optimizer_step_s", plan.optimizer_step.mean);
  at.defaulted("optimizer_step_std_s", plan.optimizer_step.stddev);
}

/// "A simulation without devices".
template <typename At>
void describe_predicted(At& at, Of<Plan> auto& plan) {
  const auto members = [](auto& predicted, auto& simulation) {
    describe_summary(predicted, simulation);
    describe_band_and_path(predicted, simulation);
  };
  if constexpr (At::kReads) {
    at.object_if_present("predicted",
                         [&](auto& predicted) { members(predicted, plan.predicted.emplace()); });
  } else if (plan.predicted) {
    at.object("predicted", [&](auto& predicted) { members(predicted, *plan.predicted); });
  }
}

template <typename At>
void describe(At& at, Of<Plan> auto& plan) {
  describe_head(at, plan);
  at.list("stages", plan.stages, [](auto& stage_at, auto& stage, int index) {
    stage_at.derived("stage", index);
    describe_stage(stage_at, stage);
  });
  at.optional("tied_weights", plan.tied);
  at.required("bottleneck_s", plan.bottleneck);
  at.required("bound_s", plan.bound);
  at.required("gap", plan.gap);
  at.required("exact", plan.exact);
  describe_predicted(at, plan);
  at.defaulted("baselines", plan.baselines);
  at.optional("alternatives", plan.alternatives);
  at.defaulted("boundaries", plan.boundaries);
  at.defaulted("notes", plan.notes);
}

}  // namespace

Result<Plan> plan_from_json(std::string_view text, std::string_view source) {
  return read_document<Plan>(text, source, "plan", [](ObjectReader& document, Plan& plan) {
    describe(document, plan);
    document.finish();
    if (!document.place().failed()) check_plan(document.place(), plan);
  });
}

std::string to_json(const Plan& plan) {
  ObjectWriter document = started_document("plan");
  describe(document, plan);
  return document_text(std::move(document));
}

}  // namespace headrace
