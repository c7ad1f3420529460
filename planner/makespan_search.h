// Finds the cut with the shortest simulated iteration: bounds order the cuts, a scorer decides.
#pragma once

#include <functional>

#include "core/result.h"
#include "planner/makespan_bound.h"

namespace headrace {

/// What a scorer says of a cut; `fresh` is false where it knew the answer already (equal stages).
struct CutScore {
  Seconds iteration{0};
  bool fresh = true;
};
using CutScorer = std::function<Result<CutScore>(const Borders&)>;

struct FastestCut {
  Borders borders;
  Seconds iteration{0};
  Seconds bound{0};    ///< No cut within memory is faster; equal to iteration where `exact`.
  bool exact = false;  ///< Every cut was scored or has a bound that is not below `iteration`.
  int scored = 0;      ///< Fresh scores.
};

/// Best-first search over the cuts that fit in memory, beginning with `start`, which must fit, in
/// rising order of their lower bound (makespan_bound.h); ends when the next bound is not below the
/// best score, or after `most_scored` fresh scores, or when a million partial cuts are open. Of
/// equal scores (to 1e-12) the fewest border bytes win, then the smallest borders; cuts whose bound
/// equals the best score are not scored. Fails only as the scorer does.
Result<FastestCut> fastest_cut(const MakespanProblem& problem, const Borders& start,
                               int most_scored, const CutScorer& scorer);

}  // namespace headrace
