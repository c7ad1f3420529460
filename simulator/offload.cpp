#include "simulator/offload.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// The computations of one row, an overlapped pair being one of them.
class Units {
 public:
  explicit Units(const std::vector<Action>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      unit_of_.push_back(count_);
      const bool joined = row[i].overlaps_next || !is_compute(row[i].kind);
      if (!joined) ++count_;
    }
  }
  [[nodiscard]] std::size_t of(std::size_t step) const { return unit_of_[step]; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::size_t> unit_of_;
  std::size_t count_ = 0;
};

/// What to copy around one unit of a row.
struct Copies {
  std::vector<Action> before;  ///< RELOADs.
  std::vector<Action> behind;  ///< OFFLOADs.
};

class Row {
 public:
  Row(const Schedule& schedule, const std::vector<Action>& row, const std::vector<bool>& offloaded)
      : schedule_(schedule), row_(row), units_(row), copies_(units_.count() + 1) {
    std::vector<std::size_t> forward(pairs(), kNone);
    for (std::size_t step = 0; step < row.size(); ++step) {
      const Action& action = row[step];
      if (!is_compute(action.kind) || !offloaded[index_of(action.stage)]) continue;
      std::size_t& began = forward[pair_of(action)];
      if (action.kind == ActionKind::kForward) {
        began = units_.of(step);
      } else if (needs_activations(action.kind) && began != kNone) {
        plan_copies(action, began, units_.of(step));
        began = kNone;  // R needs them first; its B finds them there.
      }
    }
  }

  [[nodiscard]] std::vector<Action> with_copies() const {
    std::vector<Action> longer;
    for (std::size_t step = 0; step < row_.size(); ++step) {
      const std::size_t unit = units_.of(step);
      const bool begins = step == 0 || units_.of(step - 1) != unit;
      const bool ends = step + 1 == row_.size() || units_.of(step + 1) != unit;
      if (begins)
        longer.insert(longer.end(), copies_[unit].before.begin(), copies_[unit].before.end());
      longer.push_back(row_[step]);
      if (ends)
        longer.insert(longer.end(), copies_[unit].behind.begin(), copies_[unit].behind.end());
    }
    return longer;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  [[nodiscard]] std::size_t pairs() const {
    return static_cast<std::size_t>(schedule_.stages) *
           static_cast<std::size_t>(schedule_.microbatches);
  }
  [[nodiscard]] std::size_t pair_of(const Action& action) const {
    return index_of(action.stage) * static_cast<std::size_t>(schedule_.microbatches) +
           index_of(action.microbatch);
  }

  void plan_copies(const Action& action, std::size_t from, std::size_t to) {
    if (to - from < 3) return;
    Action copy = {
        .kind = ActionKind::kOffload, .stage = action.stage, .microbatch = action.microbatch};
    copies_[from].behind.push_back(copy);
    copy.kind = ActionKind::kReload;
    copies_[to - 1].before.push_back(copy);
  }

  const Schedule& schedule_;
  const std::vector<Action>& row_;
  Units units_;
  std::vector<Copies> copies_;
};

}  // namespace

Schedule with_offload(Schedule schedule, const std::vector<bool>& offloaded) {
  for (std::vector<Action>& row : schedule.rows) row = Row(schedule, row, offloaded).with_copies();
  return schedule;
}

void set_offload_times(SimulationInput& input, BytesPerSecond bandwidth) {
  std::vector<bool> recomputed(input.stages.size());
  for (const std::vector<Action>& row : input.schedule.rows) {
    for (const Action& action : row) {
      if (action.kind == ActionKind::kRecompute) recomputed[index_of(action.stage)] = true;
    }
  }
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    StageCost& stage = input.stages[s];
    stage.offload = (recomputed[s] ? stage.kept_input : stage.saved_activation) / bandwidth;
  }
}

}  // namespace headrace
