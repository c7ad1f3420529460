// Lower bounds of the simulated iteration of every cut of a chain, known before it is simulated.
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
///   iteration >= max over s of [ sum over t < s of passing(t) + M * busy(s) ]
/// with busy = F + B and passing = F + B + 2 hops (whole backward) or F + hop (else). Valid for
/// every schedule in which each stage has a device of its own, whatever its order of actions.
///
/// Only cuts whose bound is at most `most` are looked at: that keeps the tables small.
class MakespanBounds {
 public:
  MakespanBounds(const MakespanProblem& problem, const ChainCosts& costs, Seconds most);

  /// M * busy and passing of stage [first, last).
  [[nodiscard]] double busy(int stage, int first, int last) const;
  [[nodiscard]] double passing(int stage, int first, int last) const;

  /// Least bound of stages `stage`.. from border `first` to the end, counted from when the first
  /// micro-batch arrives; infinite where that range has no cut within `most` and memory.
  [[nodiscard]] double rest(int stage, int first) const;

  /// Ends of stage [first, last) worth trying are in [lowest_end, highest_end]; the first one with
  /// earliest(first) + busy > most ends the list.
  [[nodiscard]] int lowest_end(int stage, int first) const;
  [[nodiscard]] int highest_end(int stage) const { return ranges_[at(stage) + 1].high; }
  [[nodiscard]] bool too_busy(int stage, int first, int last) const {
    return earliest_[at(first)] + busy(stage, first, last) > most_;
  }

  /// False where the tables would take more than some 10^8 steps; `rest` must not be asked then.
  [[nodiscard]] bool complete() const { return complete_; }

  /// Valid for any cut, without tables: an even share of all work, or the heaviest layer.
  [[nodiscard]] static Seconds simple(const MakespanProblem& problem);

  /// The bound of one cut, optimizer included.
  [[nodiscard]] static Seconds of_cut(const MakespanProblem& problem, const Borders& borders);

 private:
  struct Range {
    int low = 0;
    int high = 0;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  void find_ranges(double fastest);
  void fill_tables(const ChainCosts& costs);
  [[nodiscard]] double least_rest(const ChainCosts& costs, int stage, int first) const;

  int layers_ = 0;
  int stages_ = 0;
  double most_ = 0;
  double microbatches_ = 1;
  bool whole_ = false;
  std::vector<double> forward_sums_;
  std::vector<double> work_sums_;  // F + B.
  std::vector<double> speeds_;
  std::vector<std::vector<double>> hops_;  // [s][border]: to stage s + 1; the last is all 0.
  std::vector<double> earliest_;           // Passing time of all layers before a border, at best.
  std::vector<Range> ranges_;              // Begins of stage s within `most`.
  std::vector<std::vector<double>> rest_;  // [s][first - low]
  bool complete_ = true;
};

}  // namespace headrace
