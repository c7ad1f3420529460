// A plan for people: the stages, why this cut, and what other cuts would cost.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "core/text.h"
#include "report/table.h"
#include "report/text_report.h"

namespace headrace {
namespace {

std::string heading(const Plan& plan) {
  std::string text =
      fmt::format("{}: {} stages, {}, {} micro-batches", terminal_text(plan.model.name),
                  plan.stages.size(), terminal_text(plan.schedule), plan.microbatches);
  if (plan.parallel.data > 1) {
    text = fmt::format("{}: {} replicas of {} stages, {}, {} micro-batches",
                       terminal_text(plan.model.name), plan.parallel.data, plan.stages.size(),
                       terminal_text(plan.schedule), plan.microbatches);
  }
  if (plan.global_batch > 0) {
    text += fmt::format(" of {} (global batch {})", plan.micro_batch_size, plan.global_batch);
  }
  return text + "\n";
}

std::string layers_text(const PlanStage& stage) {
  if (stage.layers.size() == 1) return stage.layers.front();
  return fmt::format("{} .. {} ({})", stage.layers.front(), stage.layers.back(),
                     stage.layers.size());
}

std::string devices_text(const PlanStage& stage) {
  if (stage.devices.size() <= 2) return fmt::format("{}", fmt::join(stage.devices, ","));
  return fmt::format("{} .. {} ({})", stage.devices.front(), stage.devices.back(),
                     stage.devices.size());
}

std::string stage_table(const Plan& plan) {
  std::vector<TableRow> rows = {
      {"stage", "device", "layers", "forward", "backward", "sends", "memory", "limit"}};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    rows.push_back({fmt::format("{}", s), devices_text(stage), layers_text(stage),
                    to_text(stage.forward.mean), to_text(stage.backward.mean),
                    to_text(stage.output), to_text(stage.memory.total()),
                    stage.capacity ? to_text(*stage.capacity) : "none"});
  }
  return table_text(rows, 3);
}

std::string quality_text(const Plan& plan) {
  std::vector<TableRow> rows = {{"bottleneck",
                                 plan.parallel.virtual_stages > 1
                                     ? "forward + backward of the busiest device"
                                     : "forward + backward of the slowest stage",
                                 to_text(plan.bottleneck)}};
  rows.push_back({"bound", "no plan's " + plan.objective + " is below", to_text(plan.bound)});
  rows.push_back({"gap", plan.exact ? "above the bound; proven optimal" : "above the bound",
                  percent_text(plan.gap)});
  if (plan.predicted) {
    const Simulation& predicted = *plan.predicted;
    rows.push_back({"iteration", "simulated", to_text(predicted.iteration)});
    rows.push_back({"formula",
                    "(micro-batches + stages - 1) x slowest stage, " +
                        signed_percent_text(predicted.formula.relative_error),
                    to_text(predicted.formula.total)});
    rows.push_back({"bubble_ratio", "mean over devices of 1 - busy / makespan",
                    percent_text(predicted.bubble_ratio)});
    rows.push_back(
        {"bubble_overhead", "makespan / ideal - 1", percent_text(predicted.bubble_overhead)});
  }
  return "\n" + table_text(rows, 2);
}

std::string baseline_table(const Plan& plan) {
  if (plan.baselines.empty()) return {};
  std::vector<TableRow> rows = {{"default split", "layers per stage", "bottleneck", "iteration"}};
  for (const Baseline& baseline : plan.baselines) {
    rows.push_back({baseline.name, fmt::format("{}", fmt::join(baseline.layers_per_stage, " ")),
                    to_text(baseline.bottleneck),
                    baseline.iteration ? to_text(*baseline.iteration) : "-"});
    if (!baseline.note.empty()) rows.back().push_back(baseline.note);
  }
  return "\n" + table_text(rows, 2);
}

std::string alternative_table(const Plan& plan) {
  if (plan.alternatives.empty()) return {};
  std::vector<TableRow> rows = {{"", "schedule", "depth", "per device", "replicas", "micro-batches",
                                 "iteration", "peak memory", "traffic"}};
  for (const Alternative& one : plan.alternatives) {
    rows.push_back({one.pareto ? "*" : "", one.schedule, fmt::format("{}", one.parallel.pipeline),
                    fmt::format("{}", one.parallel.virtual_stages),
                    fmt::format("{}", one.parallel.data),
                    fmt::format("{} of {}", one.microbatches, one.micro_batch_size),
                    to_text(one.iteration), to_text(one.peak_memory), to_text(one.traffic)});
  }
  return "\n" + table_text(rows, 2) +
         "  * nothing else here is as good in time, memory and traffic\n";
}

std::string boundary_table(const Plan& plan) {
  if (plan.boundaries.empty()) return {};
  const auto cost = [](const std::optional<Seconds>& time) {
    return time ? signed_time_text(*time) : std::string("-");
  };
  std::vector<TableRow> rows = {{"cut after", "sends", "one layer earlier", "one layer later"}};
  for (const Boundary& boundary : plan.boundaries) {
    rows.push_back({boundary.after_layer, to_text(boundary.bytes), cost(boundary.one_layer_earlier),
                    cost(boundary.one_layer_later)});
  }
  return "\n" + table_text(rows);
}

}  // namespace

std::string plan_text(const Plan& plan) {
  std::string text = heading(plan) + stage_table(plan) + quality_text(plan);
  text += alternative_table(plan) + baseline_table(plan) + boundary_table(plan);
  if (!plan.notes.empty()) text += "\n";
  for (const std::string& note : plan.notes) text += fmt::format("- {}\n", terminal_text(note));
  return text;
}

}  // namespace headrace
