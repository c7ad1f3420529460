// headrace-torch run: one rank of a real run; rank 0 writes the measured timeline.
#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "core/files.h"
#include "core/json/documents.h"
#include "core/schedule_csv.h"
#include "executor/host.h"
#include "executor/torch/gloo_channel.h"
#include "executor/torch/torch_run.h"
#include "tools/headrace-torch/command.h"
#include "tools/headrace-torch/progress.h"
#include "tools/headrace-torch/store_address.h"

namespace headrace::worker {
namespace {

struct RunFlags {
  std::string plan;
  std::string schedule;
  std::string store = "127.0.0.1:29500";
  bool store_served = false;
  int restart = 0;
  int rank = 0;
  int world = 1;
  int local_rank = -1;
  double timeout_s = 60;
  std::string out;
  bool progress = false;
  TorchRunRequest request;
};

Result<void> check_place(const RunFlags& flags) {
  if (flags.world >= 1 && flags.rank >= 0 && flags.rank < flags.world) return {};
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("there is no rank {} of {}", flags.rank, flags.world),
                  .where = "--rank",
                  .fix = "count the ranks from 0"});
}

Result<void> read_inputs(RunFlags& flags) {
  const auto plan_text = read_text(flags.plan);
  if (!plan_text) return Failure(plan_text.error());
  auto plan = plan_from_json(*plan_text, flags.plan);
  if (!plan) return Failure(plan.error());
  const auto schedule_text = read_text(flags.schedule);
  if (!schedule_text) return Failure(schedule_text.error());
  auto schedule = schedule_from_csv(*schedule_text, flags.schedule);
  if (!schedule) return Failure(schedule.error());
  flags.request.plan = std::move(*plan);
  flags.request.schedule = std::move(*schedule);
  return {};
}

Result<std::unique_ptr<Channel>> join(const RunFlags& flags) {
  const auto store = store_address(flags.store);
  if (!store) return Failure(store.error());
  // Processes need a while to start, however short the patience is later on.
  constexpr double kLeastToJoin = 60;
  return make_gloo_channel({.store_host = store->host,
                            .store_port = store->port,
                            .rank = flags.rank,
                            .world = flags.world,
                            .serve_store = flags.rank == 0 && !flags.store_served,
                            .restart = flags.restart,
                            .timeout = Seconds{std::max(flags.timeout_s, kLeastToJoin)}});
}

/// Only the thread that computes is pinned: Gloo's threads, which the channel has started by now,
/// take whatever core is free.
Result<void> pin(const RunFlags& flags) {
  const auto cores = allowed_cores();
  const int place = flags.local_rank < 0 ? flags.rank : flags.local_rank;
  return pin_this_thread(cores[static_cast<std::size_t>(place) % cores.size()]);
}

Result<void> run(RunFlags& flags) {
  if (auto ok = check_place(flags); !ok) return ok;
  if (!(flags.timeout_s > 0)) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} s is no time to wait", flags.timeout_s),
                    .where = "--timeout",
                    .fix = "give a positive number of seconds"});
  }
  if (auto ok = read_inputs(flags); !ok) return ok;
  flags.request.options.timeout = Seconds{flags.timeout_s};
  if (flags.progress) {
    flags.request.options.on_progress = [](int done, int total) {
      print_progress(done, total, "iterations");
    };
  }
  const auto channel = join(flags);
  if (!channel) return Failure(channel.error());
  if (auto ok = pin(flags); !ok) return ok;
  const auto outcome = run_torch_rank(flags.request, **channel);
  if (!outcome) return Failure(outcome.error());
  if (!outcome->numerics.empty()) fmt::print(stderr, "{}\n", outcome->numerics);
  if (!outcome->timeline) return {};
  return write_text(flags.out, to_json(*outcome->timeline));
}

}  // namespace

Action run_command(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  RunOptions& options = flags->request.options;
  app.add_option("--plan", flags->plan, "Plan document")->required();
  app.add_option("--schedule-csv", flags->schedule, "The schedule that was simulated")->required();
  app.add_option("--store", flags->store, "HOST:PORT where the ranks meet");
  app.add_flag("--store-served", flags->store_served, "The launcher serves the store already");
  app.add_option("--restart", flags->restart, "How often the launcher has started the group anew");
  app.add_option("--rank", flags->rank, "Of this process, from 0");
  app.add_option("--world", flags->world, "Number of ranks");
  app.add_option("--local-rank", flags->local_rank,
                 "Among the ranks of this host; the rank without");
  app.add_option("--iterations", options.iterations, "Measured iterations");
  app.add_option("--warmup", options.warmup, "Iterations before, not measured");
  app.add_option("--timeout", flags->timeout_s, "Longest wait for a message, in seconds");
  app.add_option("--optimizer", flags->request.optimizer,
                 "sgd, momentum or adam; the plan's without");
  app.add_option("--seed", flags->request.seed, "Of weights and data");
  app.add_flag("--numerics", flags->request.numerics, "Compare with the unsplit model");
  app.add_option("--out", flags->out, "File for the timeline, written by rank 0")->required();
  app.add_flag("--progress", flags->progress, "Progress lines on stderr");
  return [flags] { return run(*flags); };
}

}  // namespace headrace::worker
