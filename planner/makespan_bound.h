// The least lower bound that the rest of a half-made cut can still have: what orders the search.
#pragma once

#include <vector>

#include "planner/cut_bound.h"

namespace headrace {

/// Tables over the cuts whose bound (cut_bound.h, optimizer left out) is at most `most`, which
/// keeps them small. `bound` and `costs` must outlive it.
class MakespanBounds {
 public:
  MakespanBounds(const CutBound& bound, const ChainCosts& costs, Seconds most);

  /// Least bound of stages `stage`.. from border `first` to the end, counted from when the first
  /// micro-batch arrives; infinite where that range has no cut within `most` and memory.
  [[nodiscard]] double rest(int stage, int first) const;

  /// Ends of stage [first, last) worth trying.
  [[nodiscard]] int lowest_end(int stage, int first) const;
  [[nodiscard]] int highest_end(int stage) const { return ranges_[at(stage) + 1].high; }

  /// False where the tables would take more than 3e8 steps; `rest` must not be asked then.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  struct Range {
    int low = 0;
    int high = 0;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] bool too_busy(int stage, int first, int last) const {
    return bound_.earliest(first) + bound_.busy(stage, first, last) > most_;
  }
  void find_ranges();
  void fill_tables(const ChainCosts& costs);
  [[nodiscard]] double least_rest(const ChainCosts& costs, int stage, int first) const;

  const CutBound& bound_;
  int layers_ = 0;
  int stages_ = 0;
  double most_ = 0;
  std::vector<Range> ranges_;              // Begins of stage s within `most`.
  std::vector<std::vector<double>> rest_;  // [s][first - low]
  bool complete_ = true;
};

}  // namespace headrace
