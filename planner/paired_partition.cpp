#include "planner/paired_partition.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/check.h"
#include "planner/chain_partition.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Sums over [first, last) of a chain.
class Sums {
 public:
  explicit Sums(std::span<const std::int64_t> weights) {
    prefix_.reserve(weights.size() + 1);
    prefix_.push_back(0);
    for (const std::int64_t weight : weights) prefix_.push_back(prefix_.back() + weight);
  }
  [[nodiscard]] int layers() const { return static_cast<int>(prefix_.size()) - 1; }
  [[nodiscard]] std::int64_t of(int first, int last) const {
    return prefix_[at(last)] - prefix_[at(first)];
  }
  /// The furthest last with of(first, last) <= room; room is at least 0.
  [[nodiscard]] int forward(int first, std::int64_t room) const {
    const auto begin = prefix_.begin();
    return static_cast<int>(
               std::upper_bound(begin + first, prefix_.end(), prefix_[at(first)] + room) - begin) -
           1;
  }
  /// The smallest first with of(first, last) <= room.
  [[nodiscard]] int backward(int last, std::int64_t room) const {
    const auto begin = prefix_.begin();
    return static_cast<int>(std::lower_bound(begin, begin + last + 1, prefix_[at(last)] - room) -
                            begin);
  }

 private:
  std::vector<std::int64_t> prefix_;
};

std::int64_t busiest_of(const Sums& sums, const Borders& borders, PairPlacement placement) {
  const int devices = (static_cast<int>(borders.size()) - 1) / 2;
  std::int64_t busiest = 0;
  for (int d = 0; d < devices; ++d) {
    const int second = placement == PairPlacement::kLoop ? devices + d : 2 * devices - 1 - d;
    busiest = std::max(busiest, sums.of(borders[at(d)], borders[at(d) + 1]) +
                                    sums.of(borders[at(second)], borders[at(second) + 1]));
  }
  return busiest;
}

/// "Is there a cut with no device above T?"
class PairProbe {
 public:
  PairProbe(const Sums& sums, int devices, PairPlacement placement)
      : sums_(sums),
        devices_(devices),
        loop_(placement == PairPlacement::kLoop),
        layers_(sums.layers()),
        parent_(at(devices + 1), std::vector<int>(at(layers_ + 1))) {}

  /// A cut, where one is found; `certain` says whether its absence is proven.
  std::optional<Borders> find(std::int64_t limit) {
    limit_ = limit;
    slack_ = devices_ * limit - sums_.of(0, layers_);
    certain_ = true;
    if (slack_ < 0) return std::nullopt;
    if (!loop_) return search(layers_);
    // The two rounds weigh about the same in good cuts: look there first.
    const int middle = sums_.forward(0, sums_.of(0, layers_) / 2);
    for (int step = 0; step <= 2 * layers_; ++step) {
      const int turn = middle + (step % 2 == 0 ? step / 2 : -(step + 1) / 2);
      if (turn < devices_ || turn > layers_ - devices_) continue;
      if (auto found = search(turn)) return found;
      if (tired()) {
        certain_ = false;
        break;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool certain() const { return certain_; }
  [[nodiscard]] bool tired() const { return steps_ > kMostSteps; }

 private:
  static constexpr std::int64_t kMostSteps = 200'000'000;
  static constexpr std::size_t kMostStates = 1'000'000;

  /// The first pieces of the devices so far end at `left`, the second ones reach to `right`: the
  /// furthest one in a loop, the innermost one in a V.
  struct State {
    int left;
    int right;
  };

  /// Where device d's second piece ends when it has `room`, from `right`.
  [[nodiscard]] int extend(int right, std::int64_t room) const {
    return loop_ ? sums_.forward(right, room) : sums_.backward(right, room);
  }
  [[nodiscard]] bool better(int right, int than) const {
    return loop_ ? right > than : right < than;
  }
  /// What the devices so far have taken.
  [[nodiscard]] std::int64_t taken(int turn, const State& state) const {
    const auto second = loop_ ? sums_.of(turn, state.right) : sums_.of(state.right, layers_);
    return sums_.of(0, state.left) + second;
  }

  /// Of a loop the first round ends at `turn`; of a V the devices meet anywhere and `turn` is n.
  std::optional<Borders> search(int turn) {
    std::vector<State> states = {{.left = 0, .right = turn}};
    std::vector<int> best(at(layers_ + 1));
    const int nowhere = loop_ ? -1 : layers_ + 1;
    for (int d = 0; d < devices_ && !states.empty(); ++d) {
      std::ranges::fill(best, nowhere);
      for (const State& state : states) grow(d, turn, state, best);
      states.clear();
      for (int left = 0; left <= layers_; ++left) {
        const State state{left, best[at(left)]};
        if (state.right == nowhere) continue;
        if (taken(turn, state) < (d + 1) * limit_ - slack_) continue;
        states.push_back(state);
      }
      if (tired()) return std::nullopt;
    }
    bool relaxed = false;  // Complete but for empty second pieces.
    for (const State& state : states) {
      const bool complete =
          loop_ ? state.left == turn && state.right == layers_ : state.right <= state.left;
      if (!complete) continue;
      relaxed = true;
      if (auto borders = with_second_pieces(first_pieces(state.left), turn)) return borders;
    }
    if (!relaxed) return std::nullopt;
    return search_all(turn);
  }

  /// All ways in which device d can go on from `state`.
  void grow(int d, int turn, const State& state, std::vector<int>& best) {
    const int later = devices_ - 1 - d;
    // The last device of a loop ends its first piece where the second round begins.
    const int least = loop_ && later == 0 ? turn : state.left + 1;
    const int most = loop_ ? turn - later : layers_ - devices_ - later;
    for (int left = least; left <= most; ++left) {
      const std::int64_t room = limit_ - sums_.of(state.left, left);
      if (room < 0) break;
      ++steps_;
      const int right = extend(state.right, room);
      if (!better(right, best[at(left)])) continue;
      best[at(left)] = right;
      parent_[at(d + 1)][at(left)] = state.left;
    }
  }

  /// Borders 0 = c_0 < … < c_P = `end` of the first pieces.
  [[nodiscard]] Borders first_pieces(int end) const {
    Borders borders(at(devices_ + 1));
    borders[at(devices_)] = end;
    for (int d = devices_; d > 0; --d) borders[at(d - 1)] = parent_[at(d)][at(borders[at(d)])];
    return borders;
  }

  /// The second pieces, all non-empty, under what the first ones leave of the limit.
  [[nodiscard]] std::optional<Borders> with_second_pieces(const Borders& first, int turn) const {
    const int begin = loop_ ? turn : first.back();
    // Piece k after the turn belongs to device k of a loop, P - 1 - k of a V.
    std::vector<std::vector<char>> reached(at(devices_ + 1), std::vector<char>(at(layers_ + 1)));
    reached[0][at(begin)] = 1;
    std::vector<std::int64_t> room(at(devices_));
    for (int k = 0; k < devices_; ++k) {
      const int d = loop_ ? k : devices_ - 1 - k;
      room[at(k)] = limit_ - sums_.of(first[at(d)], first[at(d) + 1]);
      int open = 0;  // Borders up to here are reached already.
      for (int from = begin; from <= layers_; ++from) {
        if (reached[at(k)][at(from)] == 0) continue;
        const int to = sums_.forward(from, room[at(k)]);
        for (int last = std::max(from + 1, open + 1); last <= to; ++last) {
          reached[at(k + 1)][at(last)] = 1;
        }
        open = std::max(open, to);
      }
    }
    if (reached[at(devices_)][at(layers_)] == 0) return std::nullopt;
    Borders borders(at(2 * devices_ + 1));
    std::copy(first.begin(), first.end(), borders.begin());
    borders[at(2 * devices_)] = layers_;
    for (int k = devices_; k > 1; --k) {
      const int last = borders[at(devices_ + k)];
      int from = sums_.backward(last, room[at(k - 1)]);
      while (from == last || reached[at(k - 1)][at(from)] == 0) ++from;
      borders[at(devices_ + k - 1)] = from;
    }
    return borders;
  }

  /// The same search with all borders of the second pieces kept, none of them empty.
  std::optional<Borders> search_all(int turn) {
    using Layer = std::map<std::pair<int, int>, std::pair<int, int>>;  // (left, right): from where.
    std::vector<Layer> done(at(devices_ + 1));
    done[0][{0, turn}] = {0, 0};
    for (int d = 0; d < devices_; ++d) {
      for (const auto& [from, ignored] : done[at(d)]) {
        grow_all(d, turn, {.left = from.first, .right = from.second}, done[at(d + 1)]);
        if (done[at(d + 1)].size() < kMostStates && !tired()) continue;
        certain_ = false;
        return std::nullopt;
      }
    }
    for (const auto& [end, ignored] : done[at(devices_)]) {
      const bool complete =
          loop_ ? end.first == turn && end.second == layers_ : end.first == end.second;
      if (complete) return borders_of(done, end);
    }
    return std::nullopt;
  }

  template <typename Layer>
  void grow_all(int d, int turn, const State& state, Layer& next) {
    const int most = loop_ ? turn : layers_;
    for (int left = state.left + 1; left <= most; ++left) {
      const std::int64_t room = limit_ - sums_.of(state.left, left);
      if (room < 0) break;
      const int reach = extend(state.right, room);
      for (int right = reach; right != state.right; right += loop_ ? -1 : 1) {
        ++steps_;
        if (taken(turn, {left, right}) < (d + 1) * limit_ - slack_) break;
        next.try_emplace({left, right}, state.left, state.right);
      }
    }
  }

  template <typename Layers>
  [[nodiscard]] Borders borders_of(const Layers& done, std::pair<int, int> end) const {
    Borders borders(at(2 * devices_ + 1));
    borders[at(2 * devices_)] = layers_;
    for (int d = devices_; d > 0; --d) {
      borders[at(d)] = end.first;
      borders[at(loop_ ? devices_ + d : 2 * devices_ - d)] = end.second;
      end = done[at(d)].at(end);
    }
    return borders;
  }

  const Sums& sums_;
  int devices_;
  bool loop_;
  int layers_;
  std::vector<std::vector<int>> parent_;  ///< [devices done][left]: left before.
  std::int64_t limit_ = 0;
  std::int64_t slack_ = 0;
  std::int64_t steps_ = 0;
  bool certain_ = true;
};

/// The cut with the lightest heaviest stage among 2 P: a start, and a bound.
ChainPartition plain_chain(std::span<const std::int64_t> weights, int devices) {
  ChainProblem problem;
  for (const std::int64_t weight : weights) problem.layers.push_back({.time = weight});
  problem.stages.resize(2 * at(devices));
  problem.border_bytes.assign(weights.size() + 1, 0);
  const auto partition = partition_chain(problem);
  HEADRACE_CHECK(partition.has_value(), "no limits, so there is a cut");
  return *partition;
}

}  // namespace

std::int64_t busiest_pair(std::span<const std::int64_t> weights, const Borders& borders,
                          PairPlacement placement) {
  return busiest_of(Sums(weights), borders, placement);
}

PairedPartition partition_pairs(std::span<const std::int64_t> weights, int devices,
                                PairPlacement placement) {
  HEADRACE_CHECK(devices >= 1 && weights.size() >= 2 * at(devices), "a layer for every stage");
  // In units of the greatest common divisor there are far fewer limits to try.
  std::int64_t unit = 0;
  for (const std::int64_t weight : weights) unit = std::gcd(unit, weight);
  if (unit > 1) {
    std::vector<std::int64_t> smaller(weights.begin(), weights.end());
    for (std::int64_t& weight : smaller) weight /= unit;
    PairedPartition found = partition_pairs(smaller, devices, placement);
    found.busiest *= unit;
    found.bound *= unit;
    return found;
  }
  const Sums sums(weights);
  const ChainPartition chain = plain_chain(weights, devices);
  const std::int64_t total = sums.of(0, sums.layers());
  std::int64_t low = std::max((total + devices - 1) / devices, chain.bottleneck);
  PairedPartition best{.borders = chain.borders,
                       .busiest = busiest_of(sums, chain.borders, placement),
                       .exact = true};
  PairProbe probe(sums, devices, placement);
  best.bound = low;  // Of what is proven; `low` also follows unproven answers.
  while (low < best.busiest) {
    const std::int64_t limit = low + (best.busiest - low) / 2;
    if (auto borders = probe.find(limit)) {
      best.busiest = busiest_of(sums, *borders, placement);
      best.borders = *std::move(borders);
      continue;
    }
    if (probe.tired()) break;
    if (probe.certain()) best.bound = limit + 1;
    low = limit + 1;
  }
  best.exact = best.bound == best.busiest;
  return best;
}

}  // namespace headrace
