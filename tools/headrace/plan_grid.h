// `headrace plan` where several things are left to choose: the planner's grid, wired to the
// simulator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/schedule.h"
#include "planner/planner.h"

namespace headrace::cli {

/// What the flags leave open or pin.
struct GridWish {
  int global_batch = 1;
  std::vector<std::string> schedules = {};  ///< Names with parameters; empty: all that fit.
  std::optional<int> stages;                ///< Of one replica.
  std::optional<int> per_device;
  std::optional<int> data;
  std::string objective = "iteration-time";
  double memory_margin = 0;
};

/// What a schedule says of the stages that are to be planned for it.
PlanRequest request_for(const Schedule& schedule, int microbatch_size);

/// The schedules that plans can be made for without being told which: of whole micro-batches and
/// one replica that flush the pipeline and do not look at costs; those with I and W only where
/// the profile has both.
std::vector<std::string> plannable_schedules(const Profile& profile);

/// Fails like `best_of_grid`, and with kUsage on a schedule that no plan can be made for.
Result<Plan> plan_over_grid(const GridWish& wish, const std::vector<Profile>& profiles,
                            const Cluster& cluster);

}  // namespace headrace::cli
