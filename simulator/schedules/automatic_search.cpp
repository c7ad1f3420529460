#include "simulator/schedules/automatic_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "simulator/random.h"
#include "simulator/schedule_bounds.h"
#include "simulator/schedules/automatic_fill.h"
#include "simulator/schedules/automatic_list.h"
#include "simulator/schedules/automatic_patterns.h"

namespace headrace {
namespace {

constexpr ListRules::Line kUnbounded = {.base = 1e8};

ListRules rules(ListPriority priority, ListRules::Line in_flight, ListRules::Line reserve,
                double weight_patience, double forward_patience) {
  return {.priority = priority,
          .in_flight = in_flight,
          .reserve = reserve,
          .weight_patience = weight_patience,
          .forward_patience = forward_patience};
}

/// For one stage per device. Of 207 rule sets these reach the best of all on all 265 searched
/// schedules that the zero-bubble repository's program made; the most useful first.
std::vector<ListRules> single_rules() {
  using enum ListPriority;
  constexpr ListRules::Line kOne = {.base = 1};
  constexpr ListRules::Line kTwoPerHop = {.base = 1, .slope = 2};
  constexpr ListRules::Line kTwoAndTwo = {.base = 2, .slope = 2};
  constexpr ListRules::Line kOnePerHop = {.base = 1, .slope = 1};
  return {rules(kForward, kTwoPerHop, kOne, 0.5, 0),   rules(kBackward, kUnbounded, kOne, 0, 0),
          rules(kForward, kTwoPerHop, kOne, 1, 0),     rules(kBackward, kUnbounded, kOne, 0.5, 0.5),
          rules(kForward, kTwoPerHop, kOne, 0, 0),     rules(kBackward, kOnePerHop, kOne, 1, 0),
          rules(kBackward, kTwoAndTwo, kOne, 0.75, 0), rules(kArrival, kTwoPerHop, kOne, 0, 0),
          rules(kArrival, kTwoPerHop, kOne, 0.5, 0),   rules(kArrival, kUnbounded, kOne, 0, 0.5)};
}

/// For several stages per device, chosen likewise.
std::vector<ListRules> folded_rules() {
  using enum ListPriority;
  constexpr ListRules::Line kOne = {.base = 1};
  constexpr ListRules::Line kHalf = {.base = 1, .slope = 0.5};
  constexpr ListRules::Line kFull = {.base = 1, .slope = 1};
  constexpr ListRules::Line kThird = {.base = 2, .slope = 0.34};
  return {
      rules(kForward, kUnbounded, kHalf, 0.5, 0),   rules(kForward, kUnbounded, kThird, 0.5, 0),
      rules(kForward, kUnbounded, kFull, 1, 0),     rules(kBackward, kUnbounded, kOne, 1, 0.5),
      rules(kBackward, kUnbounded, kFull, 1, 0),    rules(kForward, kUnbounded, kOne, 0, 0.5),
      rules(kForward, kUnbounded, kThird, 1, 0),    rules(kArrival, kUnbounded, kFull, 1, 0),
      rules(kBackward, kUnbounded, kOne, 0.5, 0.5), rules(kArrival, kUnbounded, kHalf, 0.5, 0.5),
      rules(kBackward, kUnbounded, kOne, 0.5, 0),   rules(kForward, kUnbounded, kFull, 0, 0.5),
      rules(kForward, kUnbounded, kThird, 1, 0.5),  rules(kForward, kUnbounded, kFull, 1, 0.5)};
}

class Search {
 public:
  Search(const PipelineTask& task, const SearchOptions& options)
      : task_(task),
        options_(options),
        actions_(3.0 * static_cast<double>(task.device_of_stage.size()) * task.microbatches),
        bound_(lower_bound(task, options.objective)) {}

  std::optional<Orders> run() {
    try_rules();
    if (!optimal()) try_known_orders();
    if (!optimal()) try_patterns();
    if (best_ && !optimal()) move_from_starts();
    return std::move(best_);
  }

 private:
  // Actions that candidates may take, and that moves may; a second each at most.
  static constexpr double kCandidateWork = 4e6;
  static constexpr double kMoveWork = 15e6;
  static constexpr double kMostMoves = 60000;
  static constexpr std::size_t kStarts = 4;

  [[nodiscard]] bool optimal() const { return best_ && time_ <= bound_ * (1 + 1e-12); }
  [[nodiscard]] bool may_go_on() const {
    return !optimal() && (!best_ || work_ < kCandidateWork * options_.effort);
  }

  void consider(std::optional<Orders> orders) {
    work_ += 2 * actions_;
    if (!orders || !within_limit(task_, *orders)) return;
    const auto times = time_orders(task_, *orders);
    if (!times) return;
    keep_start({times->of(options_.objective), *std::move(orders)});
  }

  struct Start {
    Seconds time{0};
    Orders orders;
  };

  /// The best few, each with another time: moves from a second-best start may lead further.
  void keep_start(Start start) {
    if (!best_ || start.time < time_) {
      time_ = start.time;
      best_ = start.orders;
    }
    const auto place = std::ranges::lower_bound(starts_, start.time, {}, &Start::time);
    if (place != starts_.end() && place->time == start.time) return;
    starts_.insert(place, std::move(start));
    if (starts_.size() > kStarts) starts_.pop_back();
  }

  [[nodiscard]] bool folded() const {
    return task_.device_of_stage.size() > static_cast<std::size_t>(task_.devices);
  }

  void try_rules() {
    for (const ListRules& candidate : folded() ? folded_rules() : single_rules()) {
      if (!may_go_on()) return;
      consider(list_orders(task_, candidate));
    }
  }

  void fill(const Orders& orders) {
    for (const double patience : {0.0, 0.3, 0.6, 1.0}) {
      if (!may_go_on()) return;
      consider(fill_weights(task_, orders, {.patience = patience}));
    }
  }

  void try_known_orders() {
    for (const Orders& orders : known_orders(task_)) fill(orders);
  }

  void try_patterns() {
    if (!is_folded_once(task_)) return;
    for (const FoldedPattern& pattern : folded_patterns()) {
      if (!may_go_on()) return;
      fill(pattern_orders(task_, pattern));
    }
  }

  void move_from_starts() {
    const double tries = std::min(kMostMoves, kMoveWork / actions_) * options_.effort;
    if (tries < 100) return;
    for (std::size_t i = 0; i < starts_.size() && !optimal(); ++i) {
      move_actions(starts_[i], tries / static_cast<double>(starts_.size()), i);
    }
  }

  /// Moves an action some places within its row and keeps what is not longer.
  void move_actions(Start& start, double tries, std::uint64_t seed) {
    Random random(1, seed);
    for (double i = 0; i < tries && start.time > bound_; ++i) {
      const std::size_t d = random.index(start.orders.size());
      std::vector<Action>& row = start.orders[d];
      if (row.size() < 2) continue;
      const std::size_t from = random.index(row.size());
      const std::size_t most = random.index(3) == 0 ? 16 : 4;
      const std::size_t to = reach(row, from, 1 + random.index(most), random.index(2) == 0);
      if (to == from) continue;
      move(row, from, to);
      const bool fits = row_fits(d, row);
      const auto times = fits ? time_orders(task_, start.orders) : std::nullopt;
      if (times && times->of(options_.objective) <= start.time) {
        start.time = times->of(options_.objective);
      } else {
        move(row, to, from);
      }
    }
    if (start.time >= time_) return;
    time_ = start.time;
    best_ = start.orders;
  }

  static void move(std::vector<Action>& row, std::size_t from, std::size_t to) {
    const auto at = [&](std::size_t i) { return row.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to) {
      std::rotate(at(from), at(from + 1), at(to + 1));
    } else {
      std::rotate(at(to), at(from), at(from + 1));
    }
  }

  /// How far the action at `from` may go without passing one that must stay before or behind it:
  /// of the same stage, those of its micro-batch and those of its kind.
  static std::size_t reach(const std::vector<Action>& row, std::size_t from, std::size_t steps,
                           bool up) {
    const Action& action = row[from];
    std::size_t at = from;
    for (; steps > 0; --steps) {
      if (up ? at + 1 == row.size() : at == 0) break;
      const Action& other = row[up ? at + 1 : at - 1];
      if (other.stage == action.stage &&
          (other.microbatch == action.microbatch || other.kind == action.kind)) {
        break;
      }
      at = up ? at + 1 : at - 1;
    }
    return at;
  }

  [[nodiscard]] bool row_fits(std::size_t d, const std::vector<Action>& row) const {
    return task_.limit.empty() || peak_of_row(task_, row) <= task_.limit[d] * (1 + kHeldTolerance);
  }

  const PipelineTask& task_;
  const SearchOptions& options_;
  double actions_;
  Seconds bound_;
  double work_ = 0;
  std::vector<Start> starts_;
  std::optional<Orders> best_;
  Seconds time_{0};
};

}  // namespace

std::optional<Orders> search_orders(const PipelineTask& task, const SearchOptions& options) {
  return Search(task, options).run();
}

}  // namespace headrace
