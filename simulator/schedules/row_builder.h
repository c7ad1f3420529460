// Writes one device's row of a schedule, counting the micro-batches of every stage.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/schedule.h"

namespace headrace {

/// Appends actions to a row. Each kind counts per stage from 0: the n-th forward of a stage is
/// micro-batch n. Weight gradients are queued by their input gradients and written first in,
/// first out over all stages of the row.
class RowBuilder {
 public:
  explicit RowBuilder(std::vector<Action>& row) : row_(row) {}

  void add(ActionKind kind, int stage, int microbatch) {
    row_.push_back({.kind = kind, .stage = StageId{stage}, .microbatch = MicrobatchId{microbatch}});
  }
  void forward(int stage) { add(ActionKind::kForward, stage, count_of(stage).forwards++); }
  void backward(int stage) { add(ActionKind::kBackward, stage, count_of(stage).backwards++); }
  void input_grad(int stage) {
    const int microbatch = count_of(stage).backwards++;
    weights_.emplace_back(stage, microbatch);
    add(ActionKind::kInputGrad, stage, microbatch);
  }
  void weight_grad() {
    const auto [stage, microbatch] = weights_[next_weight_++];
    if (next_weight_ == kDone) {  // Keeps the queue as short as what waits in it.
      weights_.erase(weights_.begin(), weights_.begin() + kDone);
      next_weight_ = 0;
    }
    add(ActionKind::kWeightGrad, stage, microbatch);
  }
  void all_weight_grads() {
    while (next_weight_ < weights_.size()) weight_grad();
  }

  /// F of one stage at the same time as B of another: (0F7;7B3)OVERLAP_F_B.
  void overlap(int forward_stage, int backward_stage) {
    forward(forward_stage);
    row_.back().overlaps_next = true;
    backward(backward_stage);
  }

  [[nodiscard]] int forwards(int stage) { return count_of(stage).forwards; }
  [[nodiscard]] int backwards(int stage) { return count_of(stage).backwards; }

 private:
  static constexpr std::size_t kDone = 4096;

  struct Count {
    int stage;
    int forwards = 0;
    int backwards = 0;
  };
  /// A row has few stages: the last one asked for is mostly asked for again.
  Count& count_of(int stage) {
    if (last_ < counts_.size() && counts_[last_].stage == stage) return counts_[last_];
    for (last_ = 0; last_ < counts_.size(); ++last_) {
      if (counts_[last_].stage == stage) return counts_[last_];
    }
    return counts_.emplace_back(Count{.stage = stage});
  }

  std::vector<Action>& row_;
  std::vector<Count> counts_;
  std::size_t last_ = 0;
  std::vector<std::pair<int, int>> weights_;  ///< (stage, micro-batch) of I without W.
  std::size_t next_weight_ = 0;
};

}  // namespace headrace
