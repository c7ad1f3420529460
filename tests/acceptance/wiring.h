// Planner and simulator wired together as the command line does it.
#pragma once

#include <string>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/schedule.h"
#include "planner/planner.h"
#include "simulator/simulate.h"

namespace headrace::testing {

struct Wish {
  int stages = 1;
  int microbatches = 1;
  std::string schedule = "1f1b";
  std::string objective = "iteration-time";
  int devices = 0;  ///< Of several stages each; 0: one device per stage.
};

/// A schedule of the catalogue.
Schedule schedule_of(const Wish& wish);

/// The request of a wish: in-flight counts and passes asked from its schedule.
PlanRequest request_of(const Wish& wish);

/// Scores plans by simulating them under the wish's schedule.
PlanScorer simulated_scorer(const Wish& wish);

Result<Plan> plan_for(const Profile& profile, const Cluster& cluster, const Wish& wish);

/// The plan simulated under a schedule by name.
Simulation simulated(const Plan& plan, const std::string& schedule);

/// Layers per stage.
std::vector<int> sizes_of(const Plan& plan);

/// `count` devices with this much memory (1 GB = 1e9 bytes) on infinitely fast links.
Cluster devices_with(int count, double gigabytes);
Cluster devices_without_limit(int count);

Bytes gigabytes(double count);

/// True when some note holds `words`.
bool says(const Plan& plan, const std::string& words);

}  // namespace headrace::testing
