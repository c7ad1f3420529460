// The keys of nouns that stand in several documents: times, links, memory, models.
#pragma once

#include "core/duration.h"
#include "core/json/field_rules.h"
#include "core/model_spec.h"
#include "core/profile.h"
#include "core/simulation.h"

namespace headrace {

template <typename At>
void describe(At& at, Of<Duration> auto& time) {
  at.required("mean_s", time.mean);
  at.defaulted("std_s", time.stddev);
  at.optional("samples", time.samples);
}

template <typename At>
void describe(At& at, Of<LinkSpeed> auto& link) {
  at.required("latency_s", link.latency);
  at.required("bandwidth_bytes_per_s", link.bandwidth);
}

template <typename At>
void describe(At& at, Of<MemoryItems> auto& items) {
  at.required("parameter_bytes", items.parameters);
  at.required("gradient_bytes", items.gradients);
  at.required("optimizer_bytes", items.optimizer);
  at.required("activation_bytes", items.activations);
  at.required("communication_bytes", items.communication);
  at.required("workspace_bytes", items.workspace);
  at.required("margin_bytes", items.margin);
  at.optional("deferred_weight_grad_bytes", items.deferred_weight_grad);
  at.optional("recompute_bytes", items.recompute);
  at.optional("weight_version_bytes", items.weight_versions);
}

template <typename At>
void describe(At& at, Of<ModelSpec> auto& spec) {
  at.required("family", spec.family);
  at.optional("name", spec.name);
  at.defaulted("values", spec.values);
}

template <typename At>
void describe(At& at, Of<ModelInfo> auto& model) {
  at.required("name", model.name);
  at.defaulted("source", model.source);
  at.defaulted("parameters", model.parameters);
  at.optional("spec", model.spec);
}

}  // namespace headrace
