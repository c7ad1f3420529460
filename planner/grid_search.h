// Chooses pipeline depth, stages per device, data-parallel replicas, schedule and micro-batch size
// together, at a fixed global batch.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "planner/planner.h"

namespace headrace {

/// One combination. Devices used = pipeline x data.
struct GridPoint {
  std::size_t profile = 0;  ///< In GridTask::profiles: it has its own micro-batch size.
  std::string schedule;     ///< As the caller names it.
  int pipeline = 1;         ///< Devices of one replica.
  int virtual_stages = 1;
  int data = 1;
  int microbatches = 1;  ///< Of one replica.
  /// Neighbouring devices are replicas of one stage (true), or stages of one replica (false).
  bool replicas_together = false;
};

/// What the caller knows of a point: its schedule's facts, and how to simulate its plans.
struct PreparedPoint {
  PlanRequest request;
  PlanScorer scorer;
  std::function<Result<Bytes>(const Plan&)> peak_memory;  ///< Of the fullest device.
};

/// A schedule and the numbers of stages per device that may be tried with it.
struct GridSchedule {
  std::string name;
  std::vector<int> virtual_stages;
};

struct GridTask {
  const std::vector<Profile>& profiles;  ///< Of one model, one per micro-batch size.
  const Cluster& cluster;
  int global_batch = 1;
  std::vector<GridSchedule> schedules;
  std::optional<int> stages = {};  ///< Pinned, of one replica.
  std::optional<int> data = {};    ///< Pinned.
  std::string objective = "iteration-time";
  /// Fails with kUsage or kInfeasible where the point's schedule is not defined.
  std::function<Result<PreparedPoint>(const GridPoint&)> prepare;
};

/// The best plan of the grid, with `alternatives` filled. The grid: every profile's micro-batch
/// size, every number of replicas D that divides the global batch into whole micro-batches, with
/// the deepest pipeline that D replicas leave room for, every schedule with its numbers of stages
/// per device, and replicas side by side or apart where links differ. Points go in rising order of
/// M x max(W / P, heaviest layer); one whose bound is not below the best found is left out. Each
/// other one gets its best cut by the busiest device and one simulation; the fastest six are then
/// planned by simulated time, and the winner once more with all of `make_plan`'s search. `bound`
/// is the least bound of all points, so that `gap` is that of the whole grid. Replicas must be of
/// equal speed and memory. Deterministic. Fails with kInfeasible where no point has a plan: the
/// reason of the first one is told.
Result<Plan> best_of_grid(const GridTask& task);

}  // namespace headrace
