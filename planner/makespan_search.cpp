#include "planner/makespan_search.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

namespace headrace {
namespace {

constexpr double kSameTime = 1e-12;          // Relative: rounding of sums in another order.
constexpr std::size_t kMostNodes = 1000000;  // 48 MB.

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// The first `stage` stages of a cut, the last of them ending at `border`.
struct Node {
  double bound = 0;    // Of the best completion.
  double worst = 0;    // Largest term of the stages so far.
  double elapsed = 0;  // When the first micro-batch can arrive at the next stage.
  std::int64_t bytes = 0;
  int stage = 0;
  int border = 0;
  int parent = -1;
};

class Search {
 public:
  Search(const MakespanProblem& problem, const ChainCosts& costs, const MakespanBounds& bounds,
         const CutScorer& scorer, FastestCut start)
      : problem_(problem),
        costs_(costs),
        bounds_(bounds),
        scorer_(scorer),
        best_(std::move(start)),
        best_bytes_(bytes_of(best_.borders)) {}

  Result<FastestCut> run(int most_scored) {
    add({.bound = bounds_.rest(0, 0)});
    while (!open_.empty()) {
      const int index = open_.top().index;
      const Node node = nodes_[at(index)];
      if (!can_improve(node.bound)) break;
      if (best_.scored >= most_scored || nodes_.size() > kMostNodes) {
        best_.bound = std::min(best_.iteration, Seconds(node.bound) + problem_.optimizer);
        return best_;
      }
      open_.pop();
      if (node.stage < costs_.stages()) {
        extend(node, index);
      } else if (auto scored = score(index); !scored) {
        return Failure(scored.error());
      }
    }
    best_.bound = best_.iteration;
    best_.exact = true;
    return best_;
  }

 private:
  /// Least bound first; then the longest, lightest, oldest. Kept beside the nodes to sort fast.
  struct Open {
    double bound;
    int stage;
    std::int64_t bytes;
    int index;
    friend bool operator<(const Open& a, const Open& b) {
      return std::tuple(b.bound, a.stage, b.bytes, b.index) <
             std::tuple(a.bound, b.stage, a.bytes, a.index);
    }
  };

  [[nodiscard]] bool can_improve(double bound) const {
    return bound + problem_.optimizer.value() < best_.iteration.value() * (1 - kSameTime);
  }

  void add(const Node& node) {
    if (!can_improve(node.bound)) return;
    const auto index = static_cast<int>(nodes_.size());
    nodes_.push_back(node);
    open_.push({node.bound, node.stage, node.bytes, index});
  }

  void extend(const Node& node, int index) {
    const int s = node.stage;
    const bool is_last = s + 1 == costs_.stages();
    for (int last = bounds_.lowest_end(s, node.border); last <= bounds_.highest_end(s); ++last) {
      const double worst = std::max(node.worst, node.elapsed + bounds_.busy(s, node.border, last));
      if (!can_improve(worst)) break;  // It only grows with `last`.
      if (!costs_.fits(s, node.border, last, {})) continue;
      const double elapsed = is_last ? 0 : node.elapsed + bounds_.passing(s, node.border, last);
      add({.bound = std::max(worst, elapsed + bounds_.rest(s + 1, last)),
           .worst = worst,
           .elapsed = elapsed,
           .bytes = node.bytes + costs_.border_bytes(last),
           .stage = s + 1,
           .border = last,
           .parent = index});
    }
  }

  Result<void> score(int index) {
    Borders borders(at(costs_.stages()) + 1);
    for (int at_node = index; at_node >= 0; at_node = nodes_[at(at_node)].parent) {
      borders[at(nodes_[at(at_node)].stage)] = nodes_[at(at_node)].border;
    }
    if (borders == best_.borders) return {};
    const auto answer = scorer_(borders);
    if (!answer) return Failure(answer.error());
    if (answer->fresh) ++best_.scored;
    const std::int64_t bytes = bytes_of(borders);
    const double new_time = answer->iteration.value();
    const double best_time = best_.iteration.value();
    const bool faster = new_time < best_time * (1 - kSameTime);
    const bool as_fast = !faster && new_time <= best_time * (1 + kSameTime);
    const bool lighter = std::tie(bytes, borders) < std::tie(best_bytes_, best_.borders);
    if (faster || (as_fast && lighter)) {
      best_.iteration = answer->iteration;
      best_.borders = std::move(borders);
      best_bytes_ = bytes;
    }
    return {};
  }

  [[nodiscard]] std::int64_t bytes_of(const Borders& borders) const {
    std::int64_t bytes = 0;
    for (const int border : borders) bytes += costs_.border_bytes(border);
    return bytes;
  }

  const MakespanProblem& problem_;
  const ChainCosts& costs_;
  const MakespanBounds& bounds_;
  const CutScorer& scorer_;
  FastestCut best_;
  std::int64_t best_bytes_;
  std::vector<Node> nodes_;
  std::priority_queue<Open> open_;
};

}  // namespace

Result<FastestCut> fastest_cut(const MakespanProblem& problem, const Borders& start,
                               int most_scored, const CutScorer& scorer) {
  const auto first = scorer(start);
  if (!first) return Failure(first.error());
  FastestCut best{.borders = start, .iteration = first->iteration, .scored = first->fresh ? 1 : 0};
  const ChainCosts costs(problem.chain);
  const MakespanBounds bounds(problem, costs, best.iteration);
  if (!bounds.complete()) {
    best.bound = std::min(best.iteration, MakespanBounds::simple(problem));
    return best;
  }
  return Search(problem, costs, bounds, scorer, std::move(best)).run(most_scored);
}

}  // namespace headrace
