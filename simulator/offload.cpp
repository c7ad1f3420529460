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

class Offloader {
 public:
  Offloader(const Schedule& schedule, const std::vector<bool>& offloaded)
      : microbatches_(static_cast<std::size_t>(schedule.microbatches)),
        offloaded_(offloaded),
        forward_(static_cast<std::size_t>(schedule.stages) * microbatches_, kNone) {}

  std::vector<Action> with_copies(const std::vector<Action>& row) {
    const Units units(row);
    const std::vector<Copies> copies = copies_of(row, units);
    std::vector<Action> longer;
    longer.reserve(2 * row.size());
    for (std::size_t step = 0; step < row.size(); ++step) {
      const Copies& mine = copies[units.of(step)];
      const bool begins = step == 0 || units.of(step - 1) != units.of(step);
      const bool ends = step + 1 == row.size() || units.of(step + 1) != units.of(step);
      if (begins) longer.insert(longer.end(), mine.before.begin(), mine.before.end());
      longer.push_back(row[step]);
      if (ends) longer.insert(longer.end(), mine.behind.begin(), mine.behind.end());
    }
    return longer;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::vector<Copies> copies_of(const std::vector<Action>& row, const Units& units) {
    std::vector<Copies> copies(units.count() + 1);
    for (std::size_t step = 0; step < row.size(); ++step) {
      const Action& action = row[step];
      if (!is_compute(action.kind) || !offloaded_[index_of(action.stage)]) continue;
      std::size_t& began =
          forward_[index_of(action.stage) * microbatches_ + index_of(action.microbatch)];
      if (action.kind == ActionKind::kForward) {
        began = units.of(step);
      } else if (needs_activations(action.kind) && began != kNone) {
        add_copies(action, began, units.of(step), copies);
        began = kNone;  // R needs them first; its B finds them there.
      }
    }
    return copies;
  }

  static void add_copies(const Action& action, std::size_t from, std::size_t to,
                         std::vector<Copies>& copies) {
    if (to - from < 3) return;
    Action copy = {
        .kind = ActionKind::kOffload, .stage = action.stage, .microbatch = action.microbatch};
    copies[from].behind.push_back(copy);
    copy.kind = ActionKind::kReload;
    copies[to - 1].before.push_back(copy);
  }

  std::size_t microbatches_;
  const std::vector<bool>& offloaded_;
  std::vector<std::size_t> forward_;  ///< By stage and micro-batch: the unit of its F.
};

}  // namespace

Schedule with_offload(Schedule schedule, const std::vector<bool>& offloaded) {
  Offloader offloader(schedule, offloaded);
  for (std::vector<Action>& row : schedule.rows) row = offloader.with_copies(row);
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
