// The best cut scored so far, and the rule by which another one replaces it.
#pragma once

#include <functional>

#include "core/result.h"
#include "core/units.h"
#include "planner/chain_costs.h"
#include "planner/chain_probe.h"

namespace headrace {

/// What a scorer says of a cut; `fresh` is false where it knew the answer already (equal stages).
struct CutScore {
  Seconds iteration{0};
  bool fresh = true;
};
using CutScorer = std::function<Result<CutScore>(const Borders&)>;

/// Keeps the fastest cut; of equally fast ones (to 1e-12) that with the fewest border bytes, then
/// the smallest borders. Costs and scorer must outlive it.
class CutRecord {
 public:
  CutRecord(const ChainCosts& costs, const CutScorer& scorer) : costs_(costs), scorer_(scorer) {}

  /// Scores a cut and keeps it where it is better; true where it is faster than all before.
  Result<bool> offer(const Borders& borders);

  [[nodiscard]] const Borders& borders() const { return borders_; }
  [[nodiscard]] Seconds iteration() const { return iteration_; }
  [[nodiscard]] int scored() const { return scored_; }  ///< Fresh scores.

  /// False where an iteration that cannot be shorter than `bound` cannot be faster.
  [[nodiscard]] bool can_improve(Seconds bound) const;

 private:
  [[nodiscard]] std::int64_t bytes_of(const Borders& borders) const;

  const ChainCosts& costs_;
  const CutScorer& scorer_;
  Borders borders_;
  Seconds iteration_{0};
  std::int64_t bytes_ = 0;
  int scored_ = 0;
};

}  // namespace headrace
