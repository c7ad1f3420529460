// `headrace run`: execute a plan, measure it, and lay the prediction beside.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/files.h"
#include "core/json/documents.h"
#include "core/schedule_csv.h"
#include "core/text.h"
#include "executor/host.h"
#include "executor/run.h"
#include "report/chrome_trace.h"
#include "report/compare.h"
#include "report/text_report.h"
#include "tools/headrace/command.h"
#include "tools/headrace/documents.h"
#include "tools/headrace/planned_schedule.h"
#include "tools/headrace/run_launch.h"
#include "tools/headrace/worker_process.h"

namespace headrace::cli {
namespace {

struct RunCommandOptions {
  std::string plan;
  ScheduleChoice schedule;
  bool emulate = false;
  std::optional<int> iterations;
  std::optional<int> warmup;
  std::optional<Seconds> timeout;
  std::string optimizer;
  std::optional<int> seed;
  bool numerics = false;
  std::string trace_file;
  bool dry_run = false;
};

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

RankOptions rank_options(const RunCommandOptions& options) {
  RankOptions rank;
  rank.iterations = options.iterations.value_or(rank.iterations);
  rank.warmup = options.warmup.value_or(rank.warmup);
  rank.timeout = options.timeout.value_or(rank.timeout);
  rank.seed = options.seed.value_or(rank.seed);
  rank.numerics = options.numerics;
  rank.optimizer = options.optimizer;
  return rank;
}

Result<Timeline> emulate(const ScheduledPlan& scheduled, const RankOptions& rank,
                         Console& console) {
  return run_emulated(scheduled.plan, scheduled.schedule,
                      {.warmup = rank.warmup,
                       .iterations = rank.iterations,
                       .timeout = rank.timeout,
                       .on_progress = [&](int done, int total) {
                         console.progress(done, total, "emulated iterations");
                       }});
}

/// Writes what the ranks need into `folder`.
Result<RankFiles> hand_over(const ScheduledPlan& scheduled, const TemporaryFolder& folder) {
  RankFiles files{.plan = folder.file("plan.json"),
                  .schedule = folder.file("schedule.csv"),
                  .measured = folder.file("measured.json")};
  if (auto ok = write_text(files.plan, to_json(scheduled.plan)); !ok) return Failure(ok.error());
  if (auto ok = write_text(files.schedule, to_csv(scheduled.schedule)); !ok) {
    return Failure(ok.error());
  }
  return files;
}

Result<void> check_world(const RankEnvironment& place, const Schedule& schedule) {
  if (place.world == schedule.devices) return {};
  return usage(fmt::format("{} started {} ranks; the plan has {} devices", place.launcher,
                           place.world, schedule.devices),
               "headrace run", fmt::format("start {} ranks", schedule.devices));
}

/// The ranks that this process starts: all of them, or its own where a launcher placed it.
Result<std::vector<Worker>> ranks_to_start(const ScheduledPlan& scheduled,
                                           const std::optional<RankEnvironment>& place,
                                           const RankOptions& rank, const RankFiles& files) {
  const auto program = find_worker();
  if (!program) return Failure(program.error());
  if (place) {
    if (auto ok = check_world(*place, scheduled.schedule); !ok) return Failure(ok.error());
    return std::vector{placed_rank(*program, *place, rank, files)};
  }
  const auto port = free_port();
  if (!port) return Failure(port.error());
  return local_ranks(*program, scheduled, rank, files, *port);
}

Result<void> show(const RunCommandOptions& options, const ScheduledPlan& scheduled,
                  const Timeline& measured, const Console& console) {
  if (!options.trace_file.empty()) {
    const std::string trace = chrome_trace(measured);
    if (auto ok = console.write_file(options.trace_file, trace, "--trace"); !ok) return ok;
  }
  const auto predicted = predict_plan(scheduled);
  if (!predicted) return Failure(predicted.error());
  const auto comparison = compare(predicted->report, predicted->timeline, measured);
  if (!comparison) return Failure(comparison.error());
  const std::string heading = fmt::format(
      "{}: {} stages on {} devices, {} micro-batches, {}, median of {} iterations\n",
      scheduled.schedule.name, measured.stages, measured.devices, measured.microbatches,
      measured.source == TimelineSource::kEmulated ? "emulated by timed waits" : "measured",
      measured.iterations.size());
  return console.deliver(to_json(measured), heading + comparison_text(*comparison));
}

Result<void> run_real(const RunCommandOptions& options, const ScheduledPlan& scheduled,
                      Console& console) {
  const auto place = rank_environment(process_environment());
  if (!place) return Failure(place.error());
  const auto folder = TemporaryFolder::make();
  if (!folder) return Failure(folder.error());
  const auto files = hand_over(scheduled, *folder);
  if (!files) return Failure(files.error());
  const RankOptions rank = rank_options(options);
  const auto workers = ranks_to_start(scheduled, *place, rank, *files);
  if (!workers) return Failure(workers.error());
  if (options.dry_run) return print(dry_run_text(scheduled, *workers));

  if (const auto outputs = run_with_progress(*workers, console); !outputs) {
    return Failure(outputs.error());
  }
  if (*place && (*place)->rank != 0) return {};  // rank 0 gathers all and reports
  const auto text = read_worker_file(files->measured);
  if (!text) return Failure(text.error());
  const auto measured = timeline_from_json(*text, files->measured);
  if (!measured) return Failure(measured.error());
  return show(options, scheduled, *measured, console);
}

Result<void> check_flags(const RunCommandOptions& options, const Console& console) {
  const char* const real_only = options.numerics             ? "--numerics"
                                : !options.optimizer.empty() ? "--optimizer"
                                : options.seed               ? "--seed"
                                : options.dry_run            ? "--dry-run"
                                                             : nullptr;
  if (options.emulate && real_only != nullptr) {
    return usage("an emulated run computes nothing and starts no process", real_only,
                 fmt::format("drop {} or --emulate", real_only));
  }
  if (options.dry_run && console.wants_document()) {
    return usage("a dry run has no document", "--dry-run", "drop --json and -o");
  }
  return {};
}

Result<void> check_memory(const Simulation& predicted) {
  for (std::size_t d = 0; d < predicted.per_device.size(); ++d) {
    const DeviceReport& device = predicted.per_device[d];
    if (!device.capacity || device.peak_memory <= *device.capacity) continue;
    return Failure(
        {.code = ErrorCode::kInfeasible,
         .what = fmt::format("device {} would need {}, and has {}: short by {}", d,
                             to_text(device.peak_memory), to_text(*device.capacity),
                             to_text(device.peak_memory - *device.capacity)),
         .where = fmt::format("device {}", d),
         .fix = "plan anew with this schedule and its micro-batches, or use smaller ones"});
  }
  return {};
}

Result<void> run(const RunCommandOptions& options, Console& console) {
  if (auto ok = check_flags(options, console); !ok) return ok;
  auto plan = read_plan(options.plan);
  if (!plan) return Failure(plan.error());
  const auto scheduled = schedule_plan(*std::move(plan), options.schedule);
  if (!scheduled) return Failure(scheduled.error());
  // A schedule that waits for itself must be an error here, not a hang of the ranks, and memory
  // that does not suffice no crash of one of them.
  const auto predicted = simulate_plan(*scheduled);
  if (!predicted) return Failure(predicted.error());
  if (!options.emulate) {
    if (auto ok = check_memory(predicted->report); !ok) return ok;
  }
  if (scheduled->schedule.pieces > 1) {
    return usage(fmt::format("{} cuts sequences into pieces; they can be simulated, not executed",
                             scheduled->schedule.name),
                 "--schedule", "use 1f1b, or another schedule of whole micro-batches");
  }
  if (scheduled->schedule.pipelines > 1) {
    return usage(fmt::format("{} runs two replicas of the model; only one can be executed yet",
                             scheduled->schedule.name),
                 "--schedule", "use dualpipev, or another schedule of one replica");
  }
  if (!options.emulate) return run_real(options, *scheduled, console);
  const auto measured = emulate(*scheduled, rank_options(options), console);
  if (!measured) return Failure(measured.error());
  return show(options, *scheduled, *measured, console);
}

}  // namespace

Action run_command(Flags& flags) {
  auto options = std::make_shared<RunCommandOptions>();
  flags.add_positional("PLAN", text_into(options->plan), "plan document; - is standard input");
  flags.add_switch("--emulate", options->emulate,
                   "timed waits instead of layers: any number of stages, no LibTorch");
  flags.add("--steps,--iterations", "N", count_into(options->iterations),
            "measured iterations (default 10)");
  flags.add("--warmup", "N", count_into(options->warmup, 0), "iterations before them (default 3)");
  flags.add("--timeout", "TIME", time_into(options->timeout),
            "longest wait for a message (default 60s)");
  add_schedule_flags(flags, options->schedule);
  flags.add("--optimizer", "NAME", choice_into(options->optimizer, {"sgd", "momentum", "adam"}),
            "sgd, momentum or adam (default: the plan's)");
  flags.add("--seed", "N", count_into(options->seed, 0), "of weights and data (default 1)");
  flags.add_switch("--numerics", options->numerics,
                   "compare loss and gradients with the unsplit model");
  flags.add("--trace", "FILE", text_into(options->trace_file), "timeline that Perfetto opens");
  flags.add_switch("--dry-run", options->dry_run, "say which rank would run what, and how");
  flags.add_example("headrace run plan.json --emulate --iterations 3 --warmup 1");
  flags.add_example("headrace run plan.json --numerics --trace trace.json -o measured.json");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
