// Finds the cut with the shortest simulated iteration: bounds order the cuts, a scorer decides.
#pragma once

#include <span>

#include "core/result.h"
#include "planner/cut_bound.h"
#include "planner/cut_record.h"

namespace headrace {

struct FastestCut {
  Borders borders;
  Seconds iteration{0};
  Seconds bound{0};    ///< No cut within memory is faster; equal to iteration where `exact`.
  bool exact = false;  ///< Every cut was scored or has a bound that is not below `iteration`.
  int scored = 0;      ///< Fresh scores.
};

/// Scores the `starts` (at least one, all within memory), improves the best of them by moving
/// groups of neighbouring borders for at most half of the scores (cut_descent.h), then searches all
/// cuts that fit in memory best-first, in rising order of their lower bound (makespan_bound.h).
/// Ends when the next bound is not below the best score, or after `most_scored` fresh scores, or
/// when a million partial cuts are open. Of equal scores (to 1e-12) the fewest border bytes win,
/// then the smallest borders; cuts whose bound equals the best score are not scored. Fails only as
/// the scorer does.
Result<FastestCut> fastest_cut(const MakespanProblem& problem, std::span<const Borders> starts,
                               int most_scored, const CutScorer& scorer);

}  // namespace headrace
