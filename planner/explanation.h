// Says in plain sentences why a plan is what it is, and what any other split would cost.
#pragma once

#include <vector>

#include "planner/default_splits.h"
#include "planner/plan_builder.h"

namespace headrace {

/// What the search knows beyond the plan itself.
struct SearchFacts {
  Seconds least_bottleneck{0};  ///< Of any cut that fits in memory.
  Seconds objective{0};         ///< Of the plan: iteration time or bottleneck.
  int scored = 0;               ///< Simulated plans.
  bool given = false;           ///< The caller decided the cut.
};

/// The default splits under the plan's costs: bottleneck, iteration (where a scorer is there and
/// the split fits in memory; the note names the overfull stage otherwise).
Result<std::vector<Baseline>> baselines_of(const std::vector<DefaultSplit>& splits,
                                           const PlanBuilder& builder, ScoreBook& scores);

/// Every inner border with what moving it by one layer does to the iteration time, `iteration`.
Result<std::vector<Boundary>> boundaries_of(const Borders& borders, Seconds iteration,
                                            const PlanBuilder& builder, ScoreBook& scores);

/// One sentence each: the bottleneck and its reason, the heaviest layer, bound and gap, the default
/// splits, the fullest device, tied layers apart, devices left over. Reads bound, gap, exact and
/// baselines of the plan.
std::vector<std::string> notes_of(const Plan& plan, const Profile& profile, const Borders& borders,
                                  const SearchFacts& facts);

}  // namespace headrace
