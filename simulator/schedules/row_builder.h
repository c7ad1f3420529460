// Writes one device's row of a schedule, counting the micro-batches of every stage.
#pragma once

#include <deque>
#include <map>
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
  void forward(int stage) { add(ActionKind::kForward, stage, forwards_[stage]++); }
  void backward(int stage) { add(ActionKind::kBackward, stage, backwards_[stage]++); }
  void input_grad(int stage) {
    weights_.emplace_back(stage, backwards_[stage]);
    add(ActionKind::kInputGrad, stage, backwards_[stage]++);
  }
  void weight_grad() {
    const auto [stage, microbatch] = weights_.front();
    weights_.pop_front();
    add(ActionKind::kWeightGrad, stage, microbatch);
  }
  void all_weight_grads() {
    while (!weights_.empty()) weight_grad();
  }

  /// F of one stage at the same time as B of another: (0F7;7B3)OVERLAP_F_B.
  void overlap(int forward_stage, int backward_stage) {
    forward(forward_stage);
    row_.back().overlaps_next = true;
    backward(backward_stage);
  }

  [[nodiscard]] int forwards(int stage) { return forwards_[stage]; }
  [[nodiscard]] int backwards(int stage) { return backwards_[stage]; }

 private:
  std::vector<Action>& row_;
  std::map<int, int> forwards_;
  std::map<int, int> backwards_;
  std::deque<std::pair<int, int>> weights_;
};

}  // namespace headrace
