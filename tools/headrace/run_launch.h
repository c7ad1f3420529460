// Who runs what: one worker process per device of a plan.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "executor/launcher.h"
#include "executor/rank_environment.h"
#include "tools/headrace/planned_schedule.h"

namespace headrace::cli {

/// What the flags of `run` say to every rank.
struct RankOptions {
  int iterations = 10;
  int warmup = 3;
  Seconds timeout{60};
  std::string optimizer;  ///< Empty: the plan's.
  int seed = 1;
  bool numerics = false;
};

/// The files that pass between us and the ranks.
struct RankFiles {
  std::string plan;
  std::string schedule;
  std::string measured;
};

/// One worker per device on this host, which meet at a free port of the loopback.
std::vector<Worker> local_ranks(const std::string& program, const ScheduledPlan& scheduled,
                                const RankOptions& options, const RankFiles& files, int port);

/// The one worker that this process is for, as a launcher placed it.
Worker placed_rank(const std::string& program, const RankEnvironment& place,
                   const RankOptions& options, const RankFiles& files);

/// Which rank stands on which device with which stages, then the command line of each.
std::string dry_run_text(const ScheduledPlan& scheduled, const std::vector<Worker>& workers);

}  // namespace headrace::cli
