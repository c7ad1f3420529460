// A simulation for people: times, bubbles, the formula with its assumptions, one row per device.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
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

void add_goodput(const Goodput& goodput, std::vector<TableRow>& rows) {
  rows.push_back({"availability",
                  fmt::format("with failures, a checkpoint every {} (best: {})",
                              to_text(goodput.checkpoint_interval), to_text(goodput.best_interval)),
                  percent_text(goodput.availability)});
  rows.push_back({"long run", "iteration with what failures cost, on average",
                  to_text(goodput.effective_iteration)});
  rows.push_back({"", percent_text(goodput.band.coverage) + " of runs of a day",
                  to_text(goodput.band.low) + " to " + to_text(goodput.band.high)});
}

std::string summary(const Simulation& simulation) {
  std::vector<TableRow> rows = {
      {"makespan", "first start to last end of compute", to_text(simulation.makespan)},
      {"bound", "no order of these stages on these devices ends sooner",
       to_text(simulation.makespan_bound)},
      simulation.steady_microbatch ? TableRow{"iteration", "in the steady state, never drained",
                                              to_text(simulation.iteration)}
                                   : TableRow{"iteration", "with gradient reduction and optimizer",
                                              to_text(simulation.iteration)},
      {"ideal", "busy time of the busiest device", to_text(simulation.ideal)},
      {"bubble_ratio", "mean over devices of 1 - busy / makespan",
       percent_text(simulation.bubble_ratio)},
      {"bubble_overhead", "makespan / ideal - 1", percent_text(simulation.bubble_overhead)},
      {"throughput", "micro-batches", number_text(simulation.microbatches_per_s) + " /s"}};
  if (simulation.makespan_bound <= Seconds{0}) rows.erase(rows.begin() + 1);
  if (simulation.iteration_without_barrier > Seconds{0} && !simulation.steady_microbatch &&
      simulation.iteration_without_barrier < simulation.iteration) {
    const auto ideal = std::ranges::find(rows, "ideal", [](const TableRow& row) { return row[0]; });
    rows.insert(ideal, {"", "with no barrier before the optimizer (post-validation)",
                        to_text(simulation.iteration_without_barrier)});
  }
  if (simulation.samples_per_s) {
    rows.push_back({"", "samples", number_text(*simulation.samples_per_s) + " /s"});
  }
  if (simulation.band) {
    rows.push_back({"band", "where " + percent_text(simulation.band->coverage) + " of replicas end",
                    to_text(simulation.band->low) + " to " + to_text(simulation.band->high)});
  }
  if (simulation.goodput) add_goodput(*simulation.goodput, rows);
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

std::vector<std::pair<std::string_view, Bytes>> named_items(const MemoryItems& items) {
  return {{"parameters", items.parameters},
          {"gradients", items.gradients},
          {"optimizer", items.optimizer},
          {"activations", items.activations},
          {"deferred weight gradients", items.deferred_weight_grad},
          {"recomputed", items.recompute},
          {"weight versions", items.weight_versions},
          {"messages", items.communication},
          {"workspace", items.workspace},
          {"margin", items.margin}};
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
  const bool limited = std::ranges::any_of(simulation.per_device, [](const DeviceReport& device) {
    return device.capacity.has_value();
  });
  if (memory) rows[0].emplace_back("peak memory");
  if (memory && limited) rows[0].emplace_back("of");
  for (std::size_t i = 0; i < simulation.per_device.size(); ++i) {
    const DeviceReport& device = simulation.per_device[i];
    rows.push_back({fmt::format("{}", i), to_text(device.busy),
                    to_text(device.exposed_communication), to_text(device.wait),
                    to_text(device.idle), percent_text(device.utilisation),
                    number_text(device.peak_activations)});
    if (memory) rows.back().push_back(to_text(device.peak_memory));
    if (memory && limited) {
      rows.back().push_back(device.capacity ? to_text(*device.capacity) : "unknown");
    }
  }
  return "\n" + table_text(rows);
}

/// What the heaviest device holds at its peak, and which devices would run out.
std::string memory_text(const Simulation& simulation) {
  if (!knows_memory(simulation)) return "";
  const auto heaviest =
      std::ranges::max_element(simulation.per_device, {}, &DeviceReport::peak_memory);
  std::string text =
      fmt::format("\nDevice {} holds most, at its peak:", heaviest - simulation.per_device.begin());
  const char* separator = " ";
  for (const auto& [name, bytes] : named_items(heaviest->memory_items)) {
    if (bytes <= Bytes{0}) continue;
    text += fmt::format("{}{} {}", separator, name, to_text(bytes));
    separator = ", ";
  }
  text += "\n";
  const auto host =
      std::ranges::max_element(simulation.per_device, {}, &DeviceReport::peak_host_memory);
  if (host->peak_host_memory > Bytes{0}) {
    text += fmt::format("Device {} has most in host memory: {}\n",
                        host - simulation.per_device.begin(), to_text(host->peak_host_memory));
  }
  for (std::size_t d = 0; d < simulation.per_device.size(); ++d) {
    const DeviceReport& device = simulation.per_device[d];
    if (!device.capacity || device.peak_memory <= *device.capacity) continue;
    text += fmt::format("Device {} does not fit: {} of {}, short by {}\n", d,
                        to_text(device.peak_memory), to_text(*device.capacity),
                        to_text(device.peak_memory - *device.capacity));
  }
  return text;
}

std::string cause_text(const CausalStep& step, const CausalStep* before) {
  switch (step.cause) {
    case Cause::kStart:
      return "nothing before it";
    case Cause::kDevice:
      return fmt::format("device {} was busy with {} until then", number_of(step.device),
                         to_string(before->action));
    case Cause::kCopy:
      return fmt::format("{} had to end first", to_string(before->action));
    case Cause::kMessage:
      return before->end < step.start && !is_message(before->action.kind)
                 ? fmt::format("needs {}, whose message took {}", to_string(before->action),
                               to_text(step.start - before->end))
                 : fmt::format("needs {}", to_string(before->action));
    case Cause::kPartner:
      return fmt::format("device {} at the other end was busy with {}", number_of(before->device),
                         to_string(before->action));
  }
  return "";
}

/// The chain of causes of one action, the action itself first.
std::string explanation_text(const Simulation& simulation) {
  const std::vector<CausalStep>& steps = simulation.explanation;
  if (steps.empty()) return "";
  std::string text = fmt::format("\n{} starts at {} because\n", to_string(steps.back().action),
                                 to_text(steps.back().start));
  std::vector<TableRow> rows = {{"action", "device", "start", "end", "why then"}};
  for (std::size_t i = steps.size(); i-- > 0;) {
    rows.push_back({to_string(steps[i].action), fmt::format("{}", number_of(steps[i].device)),
                    to_text(steps[i].start), to_text(steps[i].end),
                    cause_text(steps[i], i > 0 ? &steps[i - 1] : nullptr)});
  }
  return text + table_text(rows, 1);
}

}  // namespace

std::string simulation_text(const Simulation& simulation) {
  std::string text = fmt::format(
      "{}: {} stages {}on {} devices, {} micro-batches, {}\n", terminal_text(simulation.schedule),
      simulation.stages,
      simulation.pipelines == 1 ? "" : fmt::format("in {} replicas ", simulation.pipelines),
      simulation.devices, simulation.microbatches, communication_text(simulation.communication));
  text += summary(simulation);
  text += formula_text(simulation);
  if (!simulation.per_device.empty()) text += device_table(simulation);
  text += memory_text(simulation);
  text += explanation_text(simulation);
  return text;
}

}  // namespace headrace
