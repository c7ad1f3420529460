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

/// What a schedule runs of every micro-batch. It decides which times a stage adds up and which
/// lower bound of the iteration holds.
enum class Passes {
  kForwardOnly,
  kWholeBackward,  ///< F and B: a stage's last backward must still return through all before it.
  kSplitBackward,  ///< F, I and W. Its bound holds for kWholeBackward too, but is less tight.
};

/// What is fixed before the search.
struct PlanRequest {
  int stages = 1;
  int microbatches = 1;
  int global_batch = 0;
  std::string schedule = "1f1b";
  std::map<std::string, std::string> schedule_parameters = {};
  /// Micro-batches whose activations stage s holds at its peak, asked from the schedule. Size S.
  std::vector<int> in_flight;
  /// Where every stage stands, for devices with several; empty: stage s on device s. Size S.
  std::vector<DeviceId> device_of_stage = {};
  /// What devices with several stages hold at once, see `largest_holdings`. One entry per device.
  std::vector<std::vector<std::vector<int>>> held_together = {};
  Passes passes = Passes::kSplitBackward;    ///< Of `schedule`; ask it, do not guess.
  std::string objective = "iteration-time";  ///< Or "bottleneck".
  double memory_margin = 0;                  ///< Fraction of a device's memory that is left free.
  bool brief = false;                        ///< Leave out baselines, boundaries and notes.
  int scored_plans = 2000;                   ///< Cuts near the optimum that are scored at most.
  /// Numbers of layers, stage by stage, where the caller decides the cut; empty: search.
  std::vector<int> layers_per_stage = {};
};

/// The device of a stage, by position in the cluster.
inline std::size_t device_of(const PlanRequest& request, int stage) {
  const auto s = static_cast<std::size_t>(stage);
  return request.device_of_stage.empty() ? s : index_of(request.device_of_stage[s]);
}

/// True where devices have several stages.
inline bool is_placed(const PlanRequest& request) {
  return !request.device_of_stage.empty();
}

/// Cuts the profile's chain order into `stages` non-empty contiguous stages, stage s on device s.
/// First the smallest bottleneck is found (exact, memory limits kept), then, for iteration-time,
/// the scorer decides among the cuts whose lower bound is below the best scored so far.
/// Where a framework's default split is as good, sends no more bytes and needs no more memory on
/// its fullest stage, it is the plan. With `layers_per_stage` nothing is searched: that cut is
/// explained, as long as it fits in memory. Where devices have several stages, the cut is found as
/// in placed_search.h. Fills every field of Plan but `predicted`. Deterministic; times are compared
/// in whole nanoseconds per layer, or to 1e-12 of the scored time. An empty scorer is accepted for
/// "bottleneck": baselines then have no iteration time. Fails with kUsage on a request that
/// contradicts itself, with kBadInput where times or bytes add up to more than 4e18, with the
/// scorer's own error, and with kInfeasible: fewer layers than stages, fewer devices than stages,
/// or no cut fits in memory (the message says by how much, on which stage at best, and what would
/// help).
Result<Plan> make_plan(const Profile& profile, const Cluster& cluster, const PlanRequest& request,
                       const PlanScorer& scorer);

}  // namespace headrace
