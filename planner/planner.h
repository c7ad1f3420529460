// Profile + Cluster -> Plan: the exact cut of the layer chain, decided by simulated time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/units.h"

namespace headrace {

/// Simulated iteration time of a plan; bound to the simulator by the command line.
using PlanScorer = std::function<Result<Seconds>(const Plan&)>;

/// What is fixed before the search.
struct PlanRequest {
  int stages = 1;
  int microbatches = 1;
  int global_batch = 0;
  std::string schedule = "1f1b";
  std::map<std::string, std::string> schedule_parameters = {};
  /// Micro-batches whose activations stage s holds at its peak, asked from the schedule. Size S.
  std::vector<int> in_flight;
  std::string objective = "iteration-time";  ///< Or "bottleneck".
  double memory_margin = 0;  ///< Fraction of a device's memory that is left free.
  int scored_plans = 2000;   ///< Cuts near the optimum that are scored at most.
};

/// Cuts the profile's chain order into `stages` non-empty contiguous stages, stage s on device s.
/// First the smallest bottleneck is found (exact, memory limits kept), then, for iteration-time,
/// the scorer decides among the cuts whose lower bound is below the best scored so far.
/// Fills every field of Plan but `predicted`. Deterministic.
/// Fails with kInfeasible: fewer layers than stages, or no cut fits in memory (the message says by
/// how much, on which stage at best, and what would help).
Result<Plan> make_plan(const Profile& profile, const Cluster& cluster, const PlanRequest& request,
                       const PlanScorer& scorer);

}  // namespace headrace
