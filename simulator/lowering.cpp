#include "simulator/lowering.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace headrace {
namespace {

bool is_last_backward(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad;
}

/// The next `count` different stages that `row` computes from `from` on.
std::vector<StageId> upcoming_stages(const std::vector<Action>& row, std::size_t from, int count) {
  std::vector<StageId> stages;
  for (std::size_t i = from; i < row.size() && static_cast<int>(stages.size()) < count; ++i) {
    if (std::ranges::find(stages, row[i].stage) == stages.end()) stages.push_back(row[i].stage);
  }
  return stages;
}

/// Unshards the stages that come next and reshards those that do not, before every action.
std::vector<Action> with_sharding(const std::vector<Action>& row, int active_stages) {
  std::vector<Action> result;
  std::vector<StageId> active;  // Sorted, as PyTorch's set of small numbers is.
  const auto reshard = [&](StageId stage) {
    result.push_back({.kind = ActionKind::kReshard, .stage = stage});
    std::erase(active, stage);
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool second_of_overlap = i > 0 && row[i - 1].overlaps_next;
    if (!second_of_overlap) {
      const std::vector<StageId> next = upcoming_stages(row, i, active_stages);
      for (const StageId stage : std::vector<StageId>(active)) {
        if (std::ranges::find(next, stage) == next.end()) reshard(stage);
      }
      for (const StageId stage : next) {
        if (std::ranges::find(active, stage) != active.end()) continue;
        result.push_back({.kind = ActionKind::kUnshard, .stage = stage});
        active.insert(std::ranges::upper_bound(active, stage), stage);
      }
    }
    result.push_back(row[i]);
  }
  for (const StageId stage : std::vector<StageId>(active)) reshard(stage);
  return result;
}

/// A stage's gradients are reduced right after its last backward.
std::vector<Action> with_reduction(const std::vector<Action>& row, const Schedule& schedule) {
  std::vector<int> left;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    const MicrobatchRange range = microbatches_of(schedule, stage);
    left.push_back(range.end - range.first);
  }
  std::vector<Action> result;
  std::vector<StageId> finished;
  for (const Action& action : row) {
    result.push_back(action);
    if (is_last_backward(action.kind) && --left[index_of(action.stage)] == 0) {
      finished.push_back(action.stage);
    }
    if (action.overlaps_next) continue;
    for (const StageId stage : finished) {
      result.push_back({.kind = ActionKind::kReduceGrad, .stage = stage});
    }
    finished.clear();
  }
  return result;
}

/// Sweeps over the ranks and writes every action when what it needs has been written.
class SendReceiveSweep {
 public:
  explicit SendReceiveSweep(const Schedule& compute)
      : compute_(compute),
        output_(compute),
        next_(compute.rows.size(), 0),
        known_(2 * static_cast<std::size_t>(compute.stages) *
                   static_cast<std::size_t>(compute.microbatches),
               false) {
    for (auto& row : output_.rows) row.clear();
  }

  Result<Schedule> run() {
    bool left = true;
    while (left) {
      left = false;
      bool progress = false;
      for (std::size_t rank = 0; rank < compute_.rows.size(); ++rank) {
        if (next_[rank] == compute_.rows[rank].size()) continue;
        left = true;
        progress |= take(rank);
      }
      if (left && !progress) return stuck();
    }
    return std::move(output_);
  }

 private:
  [[nodiscard]] std::size_t message(bool forward, int stage, MicrobatchId microbatch) const {
    const auto pairs =
        static_cast<std::size_t>(compute_.stages) * static_cast<std::size_t>(compute_.microbatches);
    return (forward ? 0 : pairs) +
           static_cast<std::size_t>(stage) * static_cast<std::size_t>(compute_.microbatches) +
           index_of(microbatch);
  }

  /// True when the input of `action` is on its rank already: received, or made there.
  [[nodiscard]] bool ready(const Action& action) const {
    const int stage = number_of(action.stage);
    if (action.kind == ActionKind::kForward && !is_first_stage(compute_, stage)) {
      return known_[message(true, stage - 1, action.microbatch)];
    }
    if (passes_gradient(action.kind) && !is_last_stage(compute_, stage)) {
      return known_[message(false, stage + 1, action.microbatch)];
    }
    return true;
  }

  /// One action, or both of an overlap; false when it is not ready.
  bool take(std::size_t rank) {
    const std::vector<Action>& row = compute_.rows[rank];
    const std::size_t first = next_[rank];
    const std::size_t count = row[first].overlaps_next ? 2 : 1;
    for (std::size_t i = first; i < first + count; ++i) {
      if (!ready(row[i])) return false;
    }
    for (std::size_t i = first; i < first + count; ++i) output_.rows[rank].push_back(row[i]);
    for (std::size_t i = first; i < first + count; ++i) send_output(row[i]);
    next_[rank] += count;
    return true;
  }

  void send_output(const Action& action) {
    const bool forward = action.kind == ActionKind::kForward;
    if (!forward && !passes_gradient(action.kind)) return;
    const int stage = number_of(action.stage);
    if (forward ? is_last_stage(compute_, stage) : is_first_stage(compute_, stage)) return;
    const int receiver = stage + (forward ? 1 : -1);
    known_[message(forward, stage, action.microbatch)] = true;
    const DeviceId from = compute_.device_of_stage[static_cast<std::size_t>(stage)];
    const DeviceId to = compute_.device_of_stage[static_cast<std::size_t>(receiver)];
    if (from == to) return;
    output_.rows[index_of(from)].push_back(
        {.kind = forward ? ActionKind::kSendForward : ActionKind::kSendBackward,
         .stage = action.stage,
         .microbatch = action.microbatch});
    output_.rows[index_of(to)].push_back(
        {.kind = forward ? ActionKind::kRecvForward : ActionKind::kRecvBackward,
         .stage = StageId{receiver},
         .microbatch = action.microbatch});
  }

  [[nodiscard]] Failure stuck() const {
    Error error{.code = ErrorCode::kDeadlock,
                .what = "the schedule waits for itself: sends and receives cannot be placed",
                .where = "schedule",
                .fix = "move one of these actions behind what it waits for"};
    for (std::size_t rank = 0; rank < next_.size(); ++rank) {
      if (next_[rank] == compute_.rows[rank].size()) continue;
      const Action& action = compute_.rows[rank][next_[rank]];
      const bool forward = action.kind == ActionKind::kForward;
      const int source = number_of(action.stage) + (forward ? -1 : 1);
      error.cycle.push_back({.device = static_cast<int>(rank),
                             .action = to_string(action),
                             .waits_for = fmt::format("{}{}{}", source, forward ? "F" : "B",
                                                      number_of(action.microbatch))});
    }
    return Failure(std::move(error));
  }

  const Schedule& compute_;
  Schedule output_;
  std::vector<std::size_t> next_;
  std::vector<bool> known_;  ///< By message: its receiver's rank has it or will receive it.
};

/// True when `action` needs what `receive` brings.
bool consumes(const Action& action, const Action& receive) {
  if (action.stage != receive.stage || action.microbatch != receive.microbatch) return false;
  return receive.kind == ActionKind::kRecvForward ? action.kind == ActionKind::kForward
                                                  : passes_gradient(action.kind);
}

std::vector<Action> with_deferred_receives(const std::vector<Action>& row) {
  std::vector<Action> result;
  std::vector<Action> waiting;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (is_receive(row[i].kind)) {
      waiting.push_back(row[i]);
      continue;
    }
    const std::size_t count = row[i].overlaps_next ? 2 : 1;
    for (std::size_t k = i; k < i + count; ++k) {
      const auto receive = std::ranges::find_if(
          waiting, [&](const Action& candidate) { return consumes(row[k], candidate); });
      if (receive == waiting.end()) continue;
      result.push_back(*receive);
      waiting.erase(receive);
    }
    for (std::size_t k = i; k < i + count; ++k) result.push_back(row[k]);
    i += count - 1;
  }
  result.insert(result.end(), waiting.begin(), waiting.end());
  return result;
}

}  // namespace

Result<Schedule> lower(const Schedule& compute, const LoweringOptions& options) {
  Schedule prepared = compute;
  if (options.shard_actions) {
    for (auto& row : prepared.rows) {
      row = with_reduction(with_sharding(row, options.active_stages), compute);
    }
  }
  auto lowered = SendReceiveSweep(prepared).run();
  if (!lowered || !options.defer_receives) return lowered;
  for (auto& row : lowered->rows) row = with_deferred_receives(row);
  return lowered;
}

}  // namespace headrace
