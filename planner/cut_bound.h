// A lower bound of the simulated iteration of a cut, known before it is simulated.
#pragma once

#include <vector>

#include "core/units.h"
#include "planner/chain_costs.h"
#include "planner/chain_probe.h"

namespace headrace {

/// A chain with what its iteration costs. Vectors follow the chain order.
struct MakespanProblem {
  ChainProblem chain;             ///< Memory, speeds and border bytes.
  std::vector<Seconds> forward;   ///< Per layer on the profiled device.
  std::vector<Seconds> backward;  ///< 0 for kForwardOnly.
  std::vector<LinkSpeed> links;   ///< Between stages s and s + 1.
  int microbatches = 1;
  Passes passes = Passes::kSplitBackward;
  Seconds optimizer{0};  ///< No cut's optimizer step is shorter than this.
};

/// Stage s cannot start before one micro-batch went forward through all stages before it, then is
/// busy for all M micro-batches, and where backward is whole its last one still has to return:
///   makespan >= max over s of [ sum over t < s of passing(t) + busy(s) ]
/// with busy = M * (F + B) and passing = F + B + 2 hops (whole backward) or F + hop (else). Valid
/// for every schedule in which each stage has a device of its own, whatever its order of actions.
class CutBound {
 public:
  /// O(stages * layers).
  explicit CutBound(const MakespanProblem& problem);

  [[nodiscard]] int layers() const { return static_cast<int>(work_sums_.size()) - 1; }
  [[nodiscard]] int stages() const { return static_cast<int>(speeds_.size()); }

  /// Seconds of stage [first, last); `passing` includes the hop at `last`.
  [[nodiscard]] double busy(int stage, int first, int last) const;
  [[nodiscard]] double passing(int stage, int first, int last) const;

  /// No stage that begins at `border` starts before this: hops left out, fastest device.
  [[nodiscard]] double earliest(int border) const;

  /// The bound of a cut without its optimizer step. O(stages).
  [[nodiscard]] Seconds of(const Borders& borders) const;

  /// The bound of any cut: an even share of all work, or the heaviest layer. O(layers).
  [[nodiscard]] Seconds of_any() const;

 private:
  bool whole_ = false;
  double microbatches_ = 1;
  double fastest_ = 0;
  std::vector<double> forward_sums_;
  std::vector<double> work_sums_;  // F + B.
  std::vector<double> speeds_;
  std::vector<std::vector<double>> hops_;  // [s][border]: to stage s + 1; the last is all 0.
};

}  // namespace headrace
