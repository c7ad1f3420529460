// `headrace simulate`: predict one iteration of a plan, or of stage times given as flags.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/schedule_csv.h"
#include "interop/schedule_rules.h"
#include "report/chrome_trace.h"
#include "report/text_report.h"
#include "simulator/schedule_catalogue.h"
#include "simulator/steady_state.h"
#include "tools/headrace/command.h"
#include "tools/headrace/documents.h"
#include "tools/headrace/stage_times.h"
#include "tools/headrace/variation.h"

namespace headrace::cli {
namespace {

struct SimulateOptions {
  std::string plan;
  ScheduleChoice schedule;
  StageTimes times;
  SimulationChoice model;
  std::string trace_file;
  std::string csv_file;
  std::string timeline_file;
  std::string framework;
  std::vector<Change> changes;
  std::vector<std::string> profiles;
};

struct Simulated {
  Schedule schedule;
  SimulationOutcome outcome;
};

constexpr const char* kAssumed =
    "note: I and W were not measured; their times are assumed from --weight-grad-share";

/// Refuses what the framework of --for would refuse. `plan` is empty where flags give the stages.
Result<void> check_framework(const SimulateOptions& options, const Schedule& schedule,
                             const Plan* plan) {
  const auto framework = framework_from_name(options.framework);
  if (!framework) return {};
  if (!options.schedule.csv_file.empty()) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = "the rules are for schedules by name",
                    .where = "--for",
                    .fix = "drop --for or --schedule-csv"});
  }
  ScheduleUse use{.schedule = schedule.name,
                  .devices = schedule.devices,
                  .stages = schedule.stages / schedule.pipelines,
                  .microbatches = schedule.microbatches};
  std::map<std::string, std::string> parameters;
  if (plan != nullptr) {
    parameters = plan->schedule_parameters;
    use.global_batch = plan->global_batch;
    use.micro_batch_size = plan->micro_batch_size;
    use.data = plan->parallel.data;
  }
  if (!options.schedule.schedule.empty()) {
    const auto request = schedule_request_from_text(options.schedule.schedule);
    if (!request) return Failure(request.error());
    parameters = request->parameters;
  }
  // Made already, so a number.
  if (const auto group = parameters.find("group"); group != parameters.end()) {
    use.group = std::stoi(group->second);
  }
  return check_schedule(*framework, use);
}

/// With the changes of --set.
Result<Simulated> simulate_changed(const SimulateOptions& options, std::optional<Plan> plan,
                                   std::vector<Profile> profiles) {
  const VariationBase base{.plan = std::move(plan),
                           .profiles = std::move(profiles),
                           .times = options.times,
                           .schedule = options.schedule,
                           .model = options.model};
  auto varied = varied_input(base, options.changes);
  if (!varied) return Failure(varied.error());
  auto outcome = simulate_as_chosen(varied->input, options.model);
  if (!outcome) return Failure(outcome.error());
  return Simulated{std::move(varied->input.schedule), *std::move(outcome)};
}

/// True where only the report is wanted, of a plain model: then a long run need not be played out.
bool wants_only_times(const SimulateOptions& options, int stages, int microbatches) {
  constexpr std::int64_t kLong = 100'000;  // Pairs of stage and micro-batch; some milliseconds.
  const SimulationChoice& model = options.model;
  return static_cast<std::int64_t>(stages) * microbatches > kLong && options.trace_file.empty() &&
         options.csv_file.empty() && options.timeline_file.empty() && options.framework.empty() &&
         options.changes.empty() && options.schedule.csv_file.empty() &&
         model.communication == "async" && model.streams == "unlimited" && !model.contention &&
         !model.slowdown && !model.overlap_share && !model.recompute && !model.offload &&
         !model.replicas && !model.seed && !model.time_between_failures && model.explain.empty();
}

constexpr const char* kSteady =
    "note: the steady state repeats; the times are those of all micro-batches, from two short runs";

Result<Simulated> simulate_flags(const SimulateOptions& options, const Console& console) {
  const int microbatches = options.schedule.microbatches.value_or(0);
  if (wants_only_times(options, options.times.stages.value_or(0), microbatches)) {
    const auto long_run = simulate_long(
        [&](int count) {
          ScheduleChoice choice = options.schedule;
          choice.microbatches = count;
          return input_from_flags(options.times, choice);
        },
        microbatches);
    if (long_run) {
      console.note(kSteady);
      return Simulated{{}, {.report = *long_run, .timeline = {}}};
    }
  }
  const auto input = input_from_flags(options.times, options.schedule);
  if (!input) return Failure(input.error());
  if (auto ok = check_framework(options, input->schedule, nullptr); !ok) {
    return Failure(ok.error());
  }
  if (!options.changes.empty()) return simulate_changed(options, std::nullopt, {});
  auto outcome = simulate_chosen(*input, options.model);
  if (!outcome) return Failure(outcome.error());
  return Simulated{input->schedule, *std::move(outcome)};
}

Result<Simulated> simulate_file(const SimulateOptions& options, const Console& console) {
  if (const auto flag = given_stage_flag(options.times)) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = "a plan has its own stages and times",
                    .where = *flag,
                    .fix = fmt::format("drop {} or PLAN", *flag)});
  }
  auto plan = read_plan(options.plan);
  if (!plan) return Failure(plan.error());
  if (!options.changes.empty()) {
    auto profiles = profiles_of_plan(*plan, options.plan, options.profiles);
    if (!profiles) return Failure(profiles.error());
    return simulate_changed(options, *std::move(plan), *std::move(profiles));
  }
  const int microbatches = options.schedule.microbatches.value_or(plan->microbatches);
  if (wants_only_times(options, static_cast<int>(plan->stages.size()), microbatches)) {
    const auto long_run = simulate_long(
        [&](int count) -> Result<SimulationInput> {
          ScheduleChoice choice = options.schedule;
          choice.microbatches = count;
          const auto scheduled = schedule_plan(*plan, choice);
          if (!scheduled) return Failure(scheduled.error());
          return simulation_input(scheduled->plan, scheduled->schedule);
        },
        microbatches);
    if (long_run) {
      console.note(kSteady);
      return Simulated{{}, {.report = *long_run, .timeline = {}}};
    }
  }
  auto scheduled = schedule_plan(*std::move(plan), options.schedule);
  if (!scheduled) return Failure(scheduled.error());
  if (scheduled->assumed_weight_grad) console.note(kAssumed);
  if (auto ok = check_framework(options, scheduled->schedule, &scheduled->plan); !ok) {
    return Failure(ok.error());
  }
  auto outcome = simulate_plan(*scheduled, options.model);
  if (!outcome) return Failure(outcome.error());
  return Simulated{std::move(scheduled->schedule), *std::move(outcome)};
}

Result<void> write_side_products(const SimulateOptions& options, const Simulated& simulated,
                                 const Console& console) {
  if (!options.trace_file.empty()) {
    const std::string trace = chrome_trace(simulated.outcome.timeline);
    if (auto ok = console.write_file(options.trace_file, trace, "--trace"); !ok) return ok;
  }
  if (!options.csv_file.empty()) {
    const std::string csv = to_csv(simulated.schedule);
    if (auto ok = console.write_file(options.csv_file, csv, "--csv"); !ok) return ok;
  }
  if (!options.timeline_file.empty()) {
    const std::string timeline = to_json(simulated.outcome.timeline);
    if (auto ok = console.write_file(options.timeline_file, timeline, "--timeline"); !ok) return ok;
  }
  return {};
}

Result<void> run(const SimulateOptions& options, const Console& console) {
  const auto simulated =
      options.plan.empty() ? simulate_flags(options, console) : simulate_file(options, console);
  if (!simulated) return Failure(simulated.error());
  if (auto ok = write_side_products(options, *simulated, console); !ok) return ok;

  std::string text = simulation_text(simulated->outcome.report);
  const std::string staircase = staircase_text(simulated->outcome.timeline);
  if (!staircase.empty()) text += "\n" + staircase;
  return console.deliver(to_json(simulated->outcome.report), text);
}

}  // namespace

Action simulate_command(Flags& flags) {
  auto options = std::make_shared<SimulateOptions>();
  flags.add_positional("PLAN", text_into(options->plan), "plan document; - is standard input",
                       false);
  add_schedule_flags(flags, options->schedule);
  add_stage_flags(flags, options->times);
  flags.add("--trace", "FILE", text_into(options->trace_file), "timeline that Perfetto opens");
  flags.add_repeatable("--set", "KEY=VALUE", changes_into(options->changes),
                       "one change, as in whatif: stage.2.forward*=1.5; may be repeated");
  add_simulation_flags(flags, options->model);
  add_stage_detail_flags(flags, options->times);
  flags.begin_subject("frameworks and files");
  flags.add("--for", "KIND",
            choice_into(options->framework, {"megatron", "torch", "deepspeed", "zero-bubble"}),
            "refuse what megatron, torch, deepspeed or zero-bubble would");
  flags.add_repeatable("--profile", "FILE", texts_into(options->profiles),
                       "of the plan's model, for --set layer.… (default: the plan's)");
  flags.add("--timeline", "FILE", text_into(options->timeline_file), "timeline document");
  flags.add("--csv", "FILE", text_into(options->csv_file), "the schedule in PyTorch's CSV");
  flags.add_example("headrace simulate --stages 4 --micro-batches 8 --forward 1ms --backward 2ms");
  flags.add_example(
      "headrace simulate --stages 3 --micro-batches 4 --forward 3,2,1ms --backward 6,4,2ms --hop "
      "50us");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
