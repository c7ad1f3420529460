// The keys of a simulation, alone in its file or inside a plan.
#pragma once

#include "core/json/common_fields.h"
#include "core/json/field_rules.h"
#include "core/simulation.h"

namespace headrace {

template <typename At>
void describe(At& at, Of<FormulaAssumption> auto& assumption) {
  at.required("name", assumption.name);
  at.required("cost_s", assumption.cost, Sign::kAny);
}

template <typename At>
void describe(At& at, Of<Formula> auto& formula) {
  at.required("total_s", formula.total);
  at.required("relative_error", formula.relative_error);
  at.required("assumptions", formula.assumptions);
}

template <typename At>
void describe(At& at, Of<Band> auto& band) {
  at.required("low_s", band.low);
  at.required("median_s", band.median);
  at.required("high_s", band.high);
  at.required("coverage", band.coverage, Range{.low = 0, .high = 1});
}

template <typename At>
void describe(At& at, Of<Goodput> auto& goodput) {
  at.required("availability", goodput.availability, Range{.low = 0, .high = 1});
  at.required("effective_iteration_s", goodput.effective_iteration);
  at.required("band", goodput.band);
  at.required("checkpoint_interval_s", goodput.checkpoint_interval);
  at.required("best_interval_s", goodput.best_interval);
}

template <typename At>
void describe(At& at, Of<CausalStep> auto& step) {
  int device = number_of(step.device);
  at.required("device", device);
  if constexpr (At::kReads) step.device = DeviceId{device};
  at.required("action", step.action);
  at.required("start_s", step.start);
  at.required("end_s", step.end);
  at.required("cause", step.cause);
}

template <typename At>
void describe(At& at, Of<DeviceReport> auto& device) {
  at.required("busy_s", device.busy);
  at.required("exposed_communication_s", device.exposed_communication);
  at.required("wait_s", device.wait);
  at.required("idle_s", device.idle);
  at.required("utilisation", device.utilisation);
  at.required("peak_activations", device.peak_activations);
  at.required("peak_memory_bytes", device.peak_memory);
  at.required("memory_items", device.memory_items);
  at.defaulted("peak_host_memory_bytes", device.peak_host_memory);
  at.optional("capacity_bytes", device.capacity);
}

/// Everything but the devices and the critical path.
template <typename At>
void describe_summary(At& at, Of<Simulation> auto& simulation) {
  at.required("schedule", simulation.schedule);
  at.required("stages", simulation.stages);
  at.defaulted("pipelines", simulation.pipelines, kAtLeastOne);
  at.required("devices", simulation.devices);
  at.required("micro_batches", simulation.microbatches);
  at.defaulted("communication", simulation.communication);
  at.required("makespan_s", simulation.makespan);
  at.optional("makespan_bound_s", simulation.makespan_bound);
  at.required("span_s", simulation.span);
  at.required("iteration_s", simulation.iteration);
  at.defaulted("iteration_without_barrier_s", simulation.iteration_without_barrier);
  at.optional("steady_micro_batch_s", simulation.steady_microbatch);
  at.required("ideal_s", simulation.ideal);
  at.required("bubble_ratio", simulation.bubble_ratio);
  at.required("bubble_overhead", simulation.bubble_overhead);
  at.optional("samples_per_s", simulation.samples_per_s);
  at.required("micro_batches_per_s", simulation.microbatches_per_s);
  at.required("formula", simulation.formula);
}

template <typename At>
void describe_band_and_path(At& at, Of<Simulation> auto& simulation) {
  at.optional("band", simulation.band);
  at.optional("goodput", simulation.goodput);
  at.optional("explanation", simulation.explanation);
  at.defaulted("critical_path", simulation.critical_path);
  if constexpr (At::kReads) {
    if (at.place().failed()) return;
    for (const Action& action : simulation.critical_path) {
      if (number_of(action.stage) / simulation.pipelines < simulation.stages) continue;
      at.place().fail(fmt::format("critical_path has {}, there are {} stages", to_string(action),
                                  simulation.stages),
                      "use stages 0 to S - 1");
    }
  }
}

}  // namespace headrace
