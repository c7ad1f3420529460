#include "tools/headrace/planned_schedule.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/schedule_csv.h"
#include "simulator/schedule_catalogue.h"
#include "tools/headrace/documents.h"

namespace headrace::cli {
namespace {

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

/// The name and parameters of a plan's own schedule as --schedule would be given.
std::string schedule_text(const Plan& plan) {
  std::string text = plan.schedule;
  for (const auto& [name, value] : plan.schedule_parameters) {
    text += fmt::format(":{}={}", name, value);
  }
  return text;
}

bool lacks_split_times(const Plan& plan) {
  return std::ranges::any_of(
      plan.stages, [](const PlanStage& stage) { return !stage.input_grad || !stage.weight_grad; });
}

void split_backward(Plan& plan, double weight_share) {
  for (PlanStage& stage : plan.stages) {
    if (stage.input_grad && stage.weight_grad) continue;
    const Duration& whole = stage.backward;
    stage.weight_grad =
        Duration{.mean = whole.mean * weight_share, .stddev = whole.stddev * weight_share};
    stage.input_grad = Duration{.mean = whole.mean * (1 - weight_share),
                                .stddev = whole.stddev * (1 - weight_share)};
  }
}

Result<ScheduleCosts> costs_of_plan(const Plan& plan, const ScheduleChoice& choice,
                                    const Schedule& placed) {
  Plan with_split = plan;
  if (choice.weight_grad_share) split_backward(with_split, *choice.weight_grad_share);
  const auto input = simulation_input(with_split, placed);
  if (!input) return Failure(input.error());
  return schedule_costs(*input);
}

Result<Schedule> schedule_for(const Plan& plan, const ScheduleChoice& choice) {
  const auto stages = static_cast<int>(plan.stages.size());
  if (!choice.csv_file.empty()) return schedule_from_file(choice, stages);
  return generated_schedule(
      choice.schedule.empty() ? schedule_text(plan) : choice.schedule,
      {.stages = stages, .devices = plan.parallel.pipeline},
      choice.microbatches.value_or(plan.microbatches),
      [&](const Schedule& placed) { return costs_of_plan(plan, choice, placed); });
}

}  // namespace

void add_schedule_flags(Flags& flags, ScheduleChoice& choice) {
  flags.add("--micro-batches", "M", count_into(choice.microbatches),
            "micro-batches of one iteration");
  flags.add("--schedule", "NAME", text_into(choice.schedule),
            "default 1f1b, or the plan's; all names: headrace --help");
  flags.add("--schedule-csv", "FILE", text_into(choice.csv_file),
            "action lists in PyTorch's pipelining CSV instead of a name");
  flags.add("--csv-dialect", "NAME", choice_into(choice.csv_dialect, {"torch2.6", "torch2.5"}),
            "torch2.6 (default), or torch2.5, where B is the input gradient");
  flags.add("--weight-grad-share", "X", fraction_into(choice.weight_grad_share),
            "W's share of backward where it was not measured: 50%");
}

Result<Schedule> schedule_from_file(const ScheduleChoice& choice, std::optional<int> stages) {
  if (!choice.schedule.empty()) {
    return usage("a name and a file are given", "--schedule", "drop --schedule or --schedule-csv");
  }
  const auto source = read_source(choice.csv_file);
  if (!source) return Failure(source.error());
  const CsvDialect dialect =
      choice.csv_dialect == "torch2.5" ? CsvDialect::kTorch25 : CsvDialect::kTorch26;
  auto schedule = schedule_from_csv(source->text, source->source, dialect);
  if (!schedule) return Failure(schedule.error());
  const int in_file = schedule->stages / schedule->pipelines;
  if (stages && in_file != *stages) {
    return usage(
        fmt::format("{} has {} stages; {} are asked for", source->source, in_file, *stages),
        "--schedule-csv", fmt::format("give a schedule of {} stages", *stages));
  }
  if (choice.microbatches && schedule->microbatches != *choice.microbatches) {
    return usage(fmt::format("{} micro-batches are asked for; {} has {}", *choice.microbatches,
                             source->source, schedule->microbatches),
                 "--micro-batches", "leave it out: the file decides");
  }
  return schedule;
}

Result<Schedule> generated_schedule(const std::string& text, const PipelineShape& shape,
                                    int microbatches, const CostsOf& costs_of) {
  auto request = schedule_request_from_text(text);
  if (!request) return Failure(request.error());
  request->stages = shape.stages;
  request->devices = shape.devices;
  request->microbatches = microbatches;
  if (costs_of && looks_at_costs(request->name)) {
    // Where the stages stand does not depend on the costs: any schedule of the placement tells it.
    const auto placed =
        make_schedule({.name = default_virtual_stages(request->name) == 2 ? "zbv" : "1f1b",
                       .devices = shape.devices,
                       .stages = shape.stages,
                       .microbatches = 1});
    if (placed) {
      auto costs = costs_of(*placed);
      if (!costs) return Failure(costs.error());
      request->costs = *std::move(costs);
    }
  }
  return make_schedule(*request);
}

Result<ScheduledPlan> schedule_plan(Plan plan, const ScheduleChoice& choice) {
  auto schedule = schedule_for(plan, choice);
  if (!schedule) return Failure(schedule.error());
  if (const int count = schedule->microbatches / schedule->pieces; count != plan.microbatches) {
    plan.microbatches = count;
    plan.global_batch = plan.microbatches * plan.micro_batch_size * plan.parallel.data;
  }
  bool assumed = false;
  if (splits_backward(*schedule) && lacks_split_times(plan)) {
    if (!choice.weight_grad_share) {
      return usage("the schedule splits backward into I and W, which were not measured",
                   "--weight-grad-share",
                   "add --weight-grad-share 50% to assume it, or use another schedule");
    }
    split_backward(plan, *choice.weight_grad_share);
    assumed = true;
  }
  return ScheduledPlan{std::move(plan), *std::move(schedule), assumed};
}

Result<SimulationOutcome> simulate_plan(const ScheduledPlan& scheduled,
                                        const SimulationChoice& choice) {
  auto input = simulation_input(scheduled.plan, scheduled.schedule);
  if (!input) return Failure(input.error());
  return simulate_chosen(*std::move(input), choice, &scheduled.plan.inputs.cluster);
}

Result<SimulationOutcome> predict_plan(const ScheduledPlan& scheduled) {
  const bool has_spread = std::ranges::any_of(scheduled.plan.stages, [](const PlanStage& stage) {
    return stage.forward.stddev > Seconds{0} || stage.backward.stddev > Seconds{0};
  });
  constexpr int kReplicas = 200;  // Enough for the 5 % and 95 % quantiles.
  return simulate_plan(scheduled,
                       {.replicas = has_spread ? std::optional(kReplicas) : std::nullopt});
}

}  // namespace headrace::cli
