// What any stage of a chain would cost, in constant time: prefix sums and a range maximum.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "planner/chain_problem.h"

namespace headrace {

/// What a stage may take at most.
struct ChainLimit {
  std::int64_t time = std::numeric_limits<std::int64_t>::max();
  std::int64_t extra_memory = 0;  ///< Added to every capacity.
};

/// Answers for stage s over positions [first, last), first < last. Keeps a reference-free copy of
/// what it needs. O(layers log layers) to build.
class ChainCosts {
 public:
  explicit ChainCosts(const ChainProblem& problem);

  [[nodiscard]] int layers() const { return layers_; }
  [[nodiscard]] int stages() const { return static_cast<int>(stages_.size()); }
  [[nodiscard]] std::int64_t border_bytes(int border) const { return border_bytes_[at(border)]; }

  /// Nanoseconds per micro-batch.
  [[nodiscard]] std::int64_t time(int stage, int first, int last) const {
    const auto& sums = time_sums_[at(stages_[at(stage)].speed_index)];
    return sums[at(last)] - sums[at(first)];
  }

  /// Parameters, gradients and optimizer state, tied copies once.
  [[nodiscard]] std::int64_t state(int first, int last) const;
  /// Saved by one micro-batch.
  [[nodiscard]] std::int64_t activation(int first, int last) const {
    return activation_sums_[at(last)] - activation_sums_[at(first)];
  }
  [[nodiscard]] std::int64_t largest_workspace(int first, int last) const;

  /// Bytes without the border buffers: never falls when the stage gets more layers.
  [[nodiscard]] std::int64_t core_memory(int stage, int first, int last) const;
  [[nodiscard]] std::int64_t memory(int stage, int first, int last) const {
    return core_memory(stage, first, last) + border_bytes(first) + border_bytes(last);
  }
  /// memory - capacity; hugely negative where there is no limit.
  [[nodiscard]] std::int64_t excess(int stage, int first, int last) const;

  [[nodiscard]] bool fits(int stage, int first, int last, const ChainLimit& limit) const {
    return time(stage, first, last) <= limit.time &&
           excess(stage, first, last) <= limit.extra_memory;
  }
  /// `fits` without the border buffers: necessary, and monotone in the set of layers.
  [[nodiscard]] bool core_fits(int stage, int first, int last, const ChainLimit& limit) const;

  /// The furthest last for which stage [first, last) core-fits; first itself where none does.
  [[nodiscard]] int core_reach(int stage, int first, const ChainLimit& limit) const;

  /// The same for `fits`. Needs monotone().
  [[nodiscard]] int reach(int stage, int first, const ChainLimit& limit) const;

  /// True where memory with the border buffers never falls when a stage gets more layers either.
  [[nodiscard]] bool monotone() const { return monotone_; }
  /// True where the greedy is exact: monotone, equal speeds and capacities, and in-flight counts
  /// that do not rise from stage to stage.
  [[nodiscard]] bool greedy_is_exact() const { return greedy_is_exact_; }

 private:
  struct Stage {
    int speed_index = 0;
    bool limited = false;
    std::int64_t capacity = 0;
    std::int64_t in_flight = 1;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  void add_speeds(const ChainProblem& problem);
  void add_workspaces(const ChainProblem& problem);
  void classify(const ChainProblem& problem);

  int layers_ = 0;
  std::vector<Stage> stages_;
  std::vector<std::vector<std::int64_t>> time_sums_;  // One per distinct speed.
  std::vector<std::int64_t> state_sums_;
  std::vector<std::int64_t> activation_sums_;
  std::vector<std::vector<std::int64_t>> workspaces_;  // [k][i]: largest of [i, i + 2^k).
  std::vector<std::int64_t> border_bytes_;
  std::vector<ChainTie> ties_;
  bool monotone_ = true;
  bool greedy_is_exact_ = true;
};

}  // namespace headrace
