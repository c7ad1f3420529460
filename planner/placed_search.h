// Finds a good cut for devices that hold several stages each, and a bound that no cut can beat.
#pragma once

#include <span>

#include "core/cluster.h"
#include "core/result.h"
#include "planner/cut_bound.h"
#include "planner/plan_builder.h"
#include "planner/planner.h"

namespace headrace {

/// What is planned; all of it must belong together and outlive the search.
struct PlacedTask {
  const Cluster& cluster;
  const PlanRequest& request;
  const MakespanProblem& problem;
};

struct PlacedCut {
  Borders borders;
  Seconds objective{0};  ///< Iteration time, or the busiest device for "bottleneck".
  Seconds bound{0};      ///< No cut that fits has a smaller one.
  bool exact = false;    ///< The objective is as small as its bound.
  int scored = 0;        ///< Fresh scores.
};

/// Tries all cuts where there are no more than request.scored_plans. Else starts from the exact cut
/// by the busiest device (devices of equal speed with two stages each, in a loop or a V), from the
/// cut with the lightest heaviest stage and from each of `starts`, and moves groups of neighbouring
/// borders and pairs of borders as long as that helps, for at most
/// request.scored_plans fresh scores. While nothing fits in memory the missing bytes are what the
/// moves reduce. Bounds: by the busiest device what `partition_pairs` proves, or an even share of
/// the work and the heaviest layer; by iteration time, with T that bound, W a micro-batch's work
/// and lead(d) the least work before device d can begin (and, where backward is whole, after it has
/// ended),
///   makespan >= max( M T, W, (M W + sum over d of lead(d)) / P )
/// of which the last holds for devices of equal speed. Deterministic. Fails with kInfeasible where
/// no cut that fits was found (none being there is not proven), and as the scorer does.
Result<PlacedCut> best_placed_cut(const PlacedTask& task, std::span<const Borders> starts,
                                  const PlanBuilder& builder, ScoreBook& scores);

}  // namespace headrace
