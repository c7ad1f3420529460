#include "planner/makespan_search.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "planner/cut_descent.h"
#include "planner/makespan_bound.h"

namespace headrace {
namespace {

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
  Search(const MakespanProblem& problem, const ChainCosts& costs, const CutBound& bound,
         const MakespanBounds& rests, CutRecord& record)
      : optimizer_(problem.optimizer),
        costs_(costs),
        bound_(bound),
        rests_(rests),
        record_(record) {}

  /// Ends with a proof, or with the least bound of all that is left open.
  Result<Seconds> run(int most_scored) {
    add({.bound = rests_.rest(0, 0)});
    while (!open_.empty()) {
      const int index = open_.top().index;
      const Node node = nodes_[at(index)];
      if (!can_improve(node.bound)) break;
      if (record_.scored() >= most_scored || nodes_.size() > kMostNodes) {
        return Seconds(node.bound) + optimizer_;
      }
      open_.pop();
      if (node.stage < costs_.stages()) {
        extend(node, index);
      } else if (auto scored = record_.offer(borders_of(index)); !scored) {
        return Failure(scored.error());
      }
    }
    return record_.iteration();
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
    return record_.can_improve(Seconds(bound) + optimizer_);
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
    for (int last = rests_.lowest_end(s, node.border); last <= rests_.highest_end(s); ++last) {
      const double worst = std::max(node.worst, node.elapsed + bound_.busy(s, node.border, last));
      if (!can_improve(worst)) break;  // It only grows with `last`.
      if (!costs_.fits(s, node.border, last, {})) continue;
      const double elapsed = is_last ? 0 : node.elapsed + bound_.passing(s, node.border, last);
      add({.bound = std::max(worst, elapsed + rests_.rest(s + 1, last)),
           .worst = worst,
           .elapsed = elapsed,
           .bytes = node.bytes + costs_.border_bytes(last),
           .stage = s + 1,
           .border = last,
           .parent = index});
    }
  }

  [[nodiscard]] Borders borders_of(int index) const {
    Borders borders(at(costs_.stages()) + 1);
    for (int node = index; node >= 0; node = nodes_[at(node)].parent) {
      borders[at(nodes_[at(node)].stage)] = nodes_[at(node)].border;
    }
    return borders;
  }

  const Seconds optimizer_;
  const ChainCosts& costs_;
  const CutBound& bound_;
  const MakespanBounds& rests_;
  CutRecord& record_;
  std::vector<Node> nodes_;
  std::priority_queue<Open> open_;
};

}  // namespace

Result<FastestCut> fastest_cut(const MakespanProblem& problem, std::span<const Borders> starts,
                               int most_scored, const CutScorer& scorer) {
  const ChainCosts costs(problem.chain);
  const CutBound bound(problem);
  CutRecord record(costs, scorer);
  for (const Borders& start : starts) {
    if (&start != &starts.front() && record.scored() >= most_scored) break;
    if (auto scored = record.offer(start); !scored) return Failure(scored.error());
  }
  if (auto done = descend(bound, costs, record, most_scored / 2); !done) {
    return Failure(done.error());
  }
  Seconds least = bound.of_any() + problem.optimizer;
  const MakespanBounds rests(bound, costs, record.iteration() - problem.optimizer);
  if (rests.complete()) {
    const auto proven = Search(problem, costs, bound, rests, record).run(most_scored);
    if (!proven) return Failure(proven.error());
    least = *proven;
  }
  return FastestCut{.borders = record.borders(),
                    .iteration = record.iteration(),
                    .bound = std::min(least, record.iteration()),
                    .exact = !record.can_improve(least),
                    .scored = record.scored()};
}

}  // namespace headrace
