// A simulation for people: times, bubbles, the formula with its assumptions, one row per device.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "report/table.h"
#include "report/text_report.h"

namespace headrace {
namespace {

/// Four significant digits at most, without an exponent for what occurs here.
std::string number_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string communication_text(const std::string& semantics) {
  return semantics == "async" ? "asynchronous sends" : semantics + " communication";
}

std::string summary(const Simulation& simulation) {
  std::vector<TableRow> rows = {
      {"makespan", "first start to last end of compute", to_text(simulation.makespan)},
      {"iteration", "with gradient reduction and optimizer", to_text(simulation.iteration)},
      {"ideal", "busy time of the busiest device", to_text(simulation.ideal)},
      {"bubble_ratio", "mean over devices of 1 - busy / makespan",
       percent_text(simulation.bubble_ratio)},
      {"bubble_overhead", "makespan / ideal - 1", percent_text(simulation.bubble_overhead)},
      {"throughput", "micro-batches", number_text(simulation.microbatches_per_s) + " /s"}};
  if (simulation.samples_per_s) {
    rows.push_back({"", "samples", number_text(*simulation.samples_per_s) + " /s"});
  }
  if (simulation.band) {
    rows.push_back({"band", "where " + percent_text(simulation.band->coverage) + " of replicas end",
                    to_text(simulation.band->low) + " to " + to_text(simulation.band->high)});
  }
  return table_text(rows, 2);
}

std::string formula_text(const Simulation& simulation) {
  const Formula& formula = simulation.formula;
  std::string text = fmt::format(
      "\nFormula ({} micro-batches + {} stages - 1) x slowest stage: {}, {} of the simulated "
      "iteration\nWhat its assumptions leave out:\n",
      simulation.microbatches, simulation.stages, to_text(formula.total),
      signed_percent_text(formula.relative_error));
  std::vector<TableRow> rows;
  for (const FormulaAssumption& assumption : formula.assumptions) {
    rows.push_back({assumption.name, signed_time_text(assumption.cost)});
  }
  return text + table_text(rows);
}

bool knows_memory(const Simulation& simulation) {
  for (const DeviceReport& device : simulation.per_device) {
    if (device.peak_memory > Bytes{0}) return true;
  }
  return false;
}

std::string device_table(const Simulation& simulation) {
  const bool memory = knows_memory(simulation);
  std::vector<TableRow> rows = {
      {"device", "busy", "communication", "wait", "idle", "utilisation", "peak activations"}};
  if (memory) rows[0].emplace_back("peak memory");
  for (std::size_t i = 0; i < simulation.per_device.size(); ++i) {
    const DeviceReport& device = simulation.per_device[i];
    rows.push_back({fmt::format("{}", i), to_text(device.busy),
                    to_text(device.exposed_communication), to_text(device.wait),
                    to_text(device.idle), percent_text(device.utilisation),
                    number_text(device.peak_activations)});
    if (memory) rows.back().push_back(to_text(device.peak_memory));
  }
  return "\n" + table_text(rows);
}

}  // namespace

std::string simulation_text(const Simulation& simulation) {
  std::string text =
      fmt::format("{}: {} stages on {} devices, {} micro-batches, {}\n",
                  terminal_text(simulation.schedule), simulation.stages, simulation.devices,
                  simulation.microbatches, communication_text(simulation.communication));
  text += summary(simulation);
  text += formula_text(simulation);
  if (!simulation.per_device.empty()) text += device_table(simulation);
  return text;
}

}  // namespace headrace
