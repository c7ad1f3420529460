#include "tools/headrace/run_launch.h"

#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

#include "report/table.h"

namespace headrace::cli {
namespace {

std::vector<std::string> rank_arguments(const std::string& program, const RankOptions& options,
                                        const RankFiles& files) {
  std::vector<std::string> arguments = {
      program,          "run",
      "--plan",         files.plan,
      "--schedule-csv", files.schedule,
      "--iterations",   fmt::format("{}", options.iterations),
      "--warmup",       fmt::format("{}", options.warmup),
      "--timeout",      fmt::format("{}", options.timeout.value()),
      "--seed",         fmt::format("{}", options.seed),
      "--out",          files.measured,
      "--progress"};
  if (!options.optimizer.empty()) {
    arguments.insert(arguments.end(), {"--optimizer", options.optimizer});
  }
  if (options.numerics) arguments.emplace_back("--numerics");
  return arguments;
}

Worker rank_worker(std::vector<std::string> arguments, int rank, int world,
                   const std::string& store) {
  for (const auto& [flag, value] :
       {std::pair{"--rank", fmt::format("{}", rank)},
        std::pair{"--world", fmt::format("{}", world)}, std::pair{"--store", store}}) {
    arguments.emplace_back(flag);
    arguments.push_back(value);
  }
  return {.name = fmt::format("rank {}", rank), .arguments = std::move(arguments)};
}

std::vector<int> stages_on(const Schedule& schedule, int device) {
  std::vector<int> stages;
  for (std::size_t s = 0; s < schedule.device_of_stage.size(); ++s) {
    if (number_of(schedule.device_of_stage[s]) == device) stages.push_back(static_cast<int>(s));
  }
  return stages;
}

}  // namespace

std::vector<Worker> local_ranks(const std::string& program, const ScheduledPlan& scheduled,
                                const RankOptions& options, const RankFiles& files, int port) {
  std::vector<Worker> workers;
  for (int rank = 0; rank < scheduled.schedule.devices; ++rank) {
    workers.push_back(rank_worker(rank_arguments(program, options, files), rank,
                                  scheduled.schedule.devices, fmt::format("127.0.0.1:{}", port)));
  }
  return workers;
}

Worker placed_rank(const std::string& program, const RankEnvironment& place,
                   const RankOptions& options, const RankFiles& files) {
  std::vector<std::string> arguments = rank_arguments(program, options, files);
  arguments.insert(arguments.end(), {"--local-rank", fmt::format("{}", place.local_rank),
                                     "--restart", fmt::format("{}", place.restart)});
  if (place.agent_store) arguments.emplace_back("--store-served");
  return rank_worker(std::move(arguments), place.rank, place.world,
                     fmt::format("{}:{}", place.master_address, place.master_port));
}

std::string dry_run_text(const ScheduledPlan& scheduled, const std::vector<Worker>& workers) {
  std::vector<TableRow> rows = {{"rank", "device", "stages", "layers", "actions"}};
  for (int rank = 0; rank < scheduled.schedule.devices; ++rank) {
    const std::vector<int> stages = stages_on(scheduled.schedule, rank);
    std::vector<std::string> layers;
    std::string device;
    for (const int s : stages) {
      const PlanStage& stage = scheduled.plan.stages[static_cast<std::size_t>(s)];
      layers.push_back(stage.layers.size() == 1
                           ? stage.layers.front()
                           : stage.layers.front() + " .. " + stage.layers.back());
      if (!stage.devices.empty()) device = stage.devices.front();
    }
    rows.push_back(
        {fmt::format("{}", rank), device, fmt::format("{}", fmt::join(stages, ",")),
         fmt::format("{}", fmt::join(layers, ", ")),
         fmt::format("{}", scheduled.schedule.rows[static_cast<std::size_t>(rank)].size())});
  }
  std::string text = table_text(rows, 4);
  for (const Worker& worker : workers) {
    text += fmt::format("\n{}: {}\n", worker.name, fmt::join(worker.arguments, " "));
  }
  return text;
}

}  // namespace headrace::cli
