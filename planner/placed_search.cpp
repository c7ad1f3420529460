#include "planner/placed_search.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/check.h"
#include "core/text.h"
#include "planner/chain_partition.h"
#include "planner/paired_partition.h"
#include "planner/placed_costs.h"

namespace headrace {
namespace {

constexpr double kSame = 1e-12;
constexpr double kNanosecond = 1e-9;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// How good a cut is: memory first, then the objective, then what crosses its borders.
struct Value {
  Bytes missing{0};  ///< Over all devices that are overfull.
  Seconds objective{0};
  Bytes sent{0};

  [[nodiscard]] bool better_than(const Value& other) const {
    if (missing != other.missing) return missing < other.missing;
    const double mine = objective.value();
    const double theirs = other.objective.value();
    if (mine < theirs * (1 - kSame) || mine > theirs * (1 + kSame)) return mine < theirs;
    return sent < other.sent;
  }
};

/// Devices that the stages stand on, by position in the cluster, with their first stage.
struct UsedDevice {
  double speed = 1;
  int first_stage = 0;
  int stages = 0;
};

std::vector<UsedDevice> used_devices(const PlacedTask& task) {
  std::vector<UsedDevice> devices;
  for (int s = 0; s < task.request.stages; ++s) {
    const std::size_t d = device_of(task.request, s);
    if (d >= devices.size()) devices.resize(d + 1);
    if (devices[d].stages++ > 0) continue;
    devices[d].first_stage = s;
    devices[d].speed = task.problem.chain.stages[at(s)].speed;
  }
  std::erase_if(devices, [](const UsedDevice& device) { return device.stages == 0; });
  return devices;
}

bool equally_fast(const std::vector<UsedDevice>& devices) {
  return std::ranges::all_of(
      devices, [&](const UsedDevice& device) { return device.speed == devices.front().speed; });
}

/// Of two stages per device: where they stand, if it is one of the two usual ways.
std::optional<PairPlacement> pair_placement(const PlanRequest& request, int devices) {
  if (request.stages != 2 * devices) return std::nullopt;
  bool loop = true;
  bool v_shape = true;
  for (int s = 0; s < devices; ++s) {
    const std::size_t device = device_of(request, s);
    loop &= device_of(request, devices + s) == device;
    v_shape &= device_of(request, 2 * devices - 1 - s) == device;
  }
  if (loop) return PairPlacement::kLoop;
  return v_shape ? std::optional(PairPlacement::kV) : std::nullopt;
}

class PlacedSearch {
 public:
  PlacedSearch(const PlacedTask& task, const PlanBuilder& builder, ScoreBook& scores)
      : task_(task),
        builder_(builder),
        scores_(scores),
        costs_(task.problem.chain, task.cluster, task.request),
        devices_(used_devices(task)) {}

  Result<PlacedCut> run(std::span<const Borders> starts) {
    add_exact_starts();
    starts_.insert(starts_.end(), starts.begin(), starts.end());
    const bool few = count_of_cuts() <= static_cast<double>(task_.request.scored_plans);
    if (auto ok = few ? try_all() : descend_from_starts(); !ok) return Failure(ok.error());
    if (value_->missing > Bytes{0}) return Failure(does_not_fit(few));
    if (!by_time()) value_->objective = builder_.plan_of(best_).bottleneck;
    const Seconds bound = few ? value_->objective : std::min(objective_bound(), value_->objective);
    const bool exact = value_->objective.value() <= bound.value() * (1 + kSame);
    return PlacedCut{.borders = best_,
                     .objective = value_->objective,
                     .bound = bound,
                     .exact = exact,
                     .scored = scored_};
  }

 private:
  [[nodiscard]] bool by_time() const { return task_.request.objective != "bottleneck"; }
  [[nodiscard]] int layers() const { return static_cast<int>(task_.problem.forward.size()); }

  void add_exact_starts() {
    const auto chain = partition_chain(task_.problem.chain);
    HEADRACE_CHECK(chain.has_value(), "without capacities there is always a cut");
    const auto devices = static_cast<int>(devices_.size());
    const auto placement = pair_placement(task_.request, devices);
    if (placement && equally_fast(devices_)) {
      std::vector<std::int64_t> weights;
      for (const ChainLayer& layer : task_.problem.chain.layers) weights.push_back(layer.time);
      const PairedPartition pairs = partition_pairs(weights, devices, *placement);
      starts_.push_back(pairs.borders);
      if (pairs.exact) balanced_ = builder_.plan_of(pairs.borders).bottleneck;
      proven_ = Seconds((static_cast<double>(pairs.bound) - rounding()) * kNanosecond /
                        devices_.front().speed);
    }
    starts_.push_back(chain->borders);
  }

  Result<Value> value_of(const Borders& borders) {
    Value value{.missing = costs_.missing(borders),
                .objective = Seconds(static_cast<double>(costs_.busiest(borders)) * kNanosecond),
                .sent = costs_.sent(borders)};
    if (!by_time() || value.missing > Bytes{0}) return value;
    const auto entry = scores_.score(builder_.plan_of(borders));
    if (!entry) return Failure(entry.error());
    value.objective = entry->iteration;
    scored_ += entry->fresh ? 1 : 0;
    return value;
  }

  /// A cut with its value.
  struct Candidate {
    Borders borders;
    std::optional<Value> value = {};
  };

  /// Takes `borders` in place of `now` where they are better; says whether they were.
  Result<bool> consider(Candidate& now, const Borders& borders) {
    if (now.value && is_hopeless(borders, *now.value)) return false;
    const auto value = value_of(borders);
    if (!value) return Failure(value.error());
    if (now.value && !value->better_than(*now.value)) return false;
    now = {.borders = borders, .value = *value};
    return true;
  }

  /// True where `borders` cannot be better than `value`, known without a simulation.
  [[nodiscard]] bool is_hopeless(const Borders& borders, const Value& value) const {
    if (value.missing == Bytes{0} && is_too_busy(borders, value.objective)) return true;
    return costs_.missing(borders) > value.missing;
  }

  [[nodiscard]] bool is_too_busy(const Borders& borders, Seconds objective) const {
    // I and W may take less than the whole backward that the sums are of.
    if (!by_time() || task_.request.passes == Passes::kSplitBackward) return false;
    const double busiest =
        (static_cast<double>(costs_.busiest(borders)) - rounding()) * kNanosecond;
    return busiest * task_.request.microbatches > objective.value() * (1 + kSame);
  }

  /// Nanoseconds by which a sum of rounded layers may be too large.
  [[nodiscard]] double rounding() const { return 0.5 * layers(); }

  void keep(const Candidate& found) {
    if (value_ && !found.value->better_than(*value_)) return;
    value_ = found.value;
    best_ = found.borders;
  }

  [[nodiscard]] double count_of_cuts() const {
    double count = 1;
    for (int s = 1; s < task_.request.stages; ++s) {
      count = count * (layers() - s) / s;
    }
    return count;
  }

  /// Every cut, in lexicographic order.
  Result<void> try_all() {
    const int stages = task_.request.stages;
    Candidate best;
    Borders borders(at(stages) + 1);
    for (int s = 0; s < stages; ++s) borders[at(s)] = s;
    borders[at(stages)] = layers();
    while (true) {
      if (const auto ok = consider(best, borders); !ok) return Failure(ok.error());
      int last = stages - 1;  // The last border that can go on by one.
      while (last > 0 && borders[at(last)] == layers() - (stages - last)) --last;
      if (last == 0) break;
      ++borders[at(last)];
      for (int s = last + 1; s < stages; ++s) borders[at(s)] = borders[at(s) - 1] + 1;
    }
    keep(best);
    return {};
  }

  Result<void> descend_from_starts() {
    for (const Borders& start : starts_) {
      Candidate now;
      if (const auto ok = consider(now, start); !ok) return Failure(ok.error());
      if (auto ok = descend(now); !ok) return Failure(ok.error());
      keep(now);
    }
    return {};
  }

  [[nodiscard]] bool tired() {
    return ++tried_ > (task_.request.brief ? kMostMoves / 10 : kMostMoves) ||
           scored_ >= task_.request.scored_plans;
  }

  /// Moves groups of neighbouring borders, far first, then any two borders by one layer each, until
  /// nothing helps.
  Result<void> descend(Candidate& now) {
    while (!tired()) {
      const auto by_groups = move_groups(now);
      if (!by_groups) return Failure(by_groups.error());
      if (*by_groups) continue;
      const auto by_pairs = move_pairs(now);
      if (!by_pairs) return Failure(by_pairs.error());
      if (!*by_pairs) break;
    }
    return {};
  }

  Result<bool> move_groups(Candidate& now) {
    const int inner = task_.request.stages - 1;
    bool improved = false;
    for (const int step : {8, 4, 2, 1, -1, -2, -4, -8}) {
      for (int length = 1; length <= std::min(inner, kLongestGroup); ++length) {
        for (int first = 1; first + length - 1 <= inner; ++first) {
          if (tired()) return improved;
          const auto better = try_moved(now, {{first, length, step}});
          if (!better) return better;
          improved |= *better;
        }
      }
    }
    return improved;
  }

  Result<bool> move_pairs(Candidate& now) {
    const int inner = task_.request.stages - 1;
    for (int first = 1; first <= inner; ++first) {
      for (int second = first + 1; second <= inner; ++second) {
        for (const auto& [a, b] : {std::pair{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}) {
          if (tired()) return false;
          const auto better = try_moved(now, {{first, 1, a}, {second, 1, b}});
          if (!better || *better) return better;
        }
      }
    }
    return false;
  }

  /// Borders `first` to `first + length - 1` by `step` layers.
  struct Move {
    int first;
    int length;
    int step;
  };

  Result<bool> try_moved(Candidate& now, std::initializer_list<Move> moves) {
    Borders moved = now.borders;
    for (const Move& move : moves) {
      for (int i = move.first; i < move.first + move.length; ++i) moved[at(i)] += move.step;
    }
    const bool rising = std::ranges::adjacent_find(moved, std::greater_equal<>()) == moved.end();
    return rising ? consider(now, moved) : Result<bool>(false);
  }

  /// A layer's work where it is done fastest.
  [[nodiscard]] Seconds work(int layer) const {
    return task_.problem.forward[at(layer)] + task_.problem.backward[at(layer)];
  }

  [[nodiscard]] Seconds objective_bound() const {
    double speeds = 0;
    double fastest = 0;
    for (const UsedDevice& device : devices_) {
      speeds += device.speed;
      fastest = std::max(fastest, device.speed);
    }
    Seconds total{0};
    Seconds heaviest{0};
    for (int layer = 0; layer < layers(); ++layer) {
      total += work(layer);
      heaviest = std::max(heaviest, work(layer));
    }
    const Seconds busiest = std::max({total * (1 / speeds), heaviest * (1 / fastest), proven_});
    if (!by_time()) return balanced_.value_or(busiest);
    const auto microbatches = static_cast<double>(task_.request.microbatches);
    Seconds bound = std::max(busiest * microbatches, total * (1 / fastest));
    if (equally_fast(devices_)) {
      const Seconds lead = total_lead() * (1 / fastest);
      const Seconds all = total * (microbatches / fastest) + lead;
      bound = std::max(bound, all * (1 / static_cast<double>(devices_.size())));
    }
    return bound + task_.problem.optimizer;
  }

  /// The least work before a device's first action, and after its last where backward is whole,
  /// added up over devices: no stage is empty, so stage s has at least s layers before it.
  [[nodiscard]] Seconds total_lead() const {
    const bool returns = task_.request.passes == Passes::kWholeBackward;
    Seconds lead{0};
    for (const UsedDevice& device : devices_) {
      for (int layer = 0; layer < device.first_stage; ++layer) {
        lead += returns ? work(layer) : task_.problem.forward[at(layer)];
      }
    }
    return lead;
  }

  [[nodiscard]] Error does_not_fit(bool all_tried) const {
    const Plan plan = builder_.plan_of(best_);
    std::size_t worst = 0;
    Bytes most{0};
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const auto capacity = builder_.device_capacity(s);
      const Bytes missing = capacity ? builder_.device_memory(plan, s) - *capacity : Bytes{0};
      if (missing <= most) continue;
      most = missing;
      worst = s;
    }
    const std::size_t device = device_of(task_.request, static_cast<int>(worst));
    return {.code = ErrorCode::kInfeasible,
            .what = fmt::format(
                "no cut of {} layers into {} stages on {} devices {} in memory: the "
                "best one misses {} ({} bytes) on device {}",
                layers(), task_.request.stages, devices_.size(),
                all_tried ? "fits" : "was found that fits", to_text(most), most.value(), device),
            .where = fmt::format("cluster: /devices/{}/memory_bytes", device),
            .fix =
                "use a smaller micro-batch, more devices, or one stage per device: 1f1b holds "
                "fewer activations",
            .why = fmt::format("its stages need {} together, of {}",
                               to_text(builder_.device_memory(plan, worst)),
                               to_text(*builder_.device_capacity(worst)))};
  }

  static constexpr int kLongestGroup = 8;
  static constexpr int kMostMoves = 200'000;

  const PlacedTask& task_;
  const PlanBuilder& builder_;
  ScoreBook& scores_;
  PlacedCosts costs_;
  std::vector<UsedDevice> devices_;
  std::vector<Borders> starts_;
  std::optional<Seconds> balanced_;  ///< The proven least busiest device, memory left aside.
  Seconds proven_{0};                ///< Below it no busiest device is.
  Borders best_;
  std::optional<Value> value_;
  int scored_ = 0;
  int tried_ = 0;
};

}  // namespace

Result<PlacedCut> best_placed_cut(const PlacedTask& task, std::span<const Borders> starts,
                                  const PlanBuilder& builder, ScoreBook& scores) {
  return PlacedSearch(task, builder, scores).run(starts);
}

}  // namespace headrace
