#include "planner/cut_descent.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

bool is_cut_within_memory(const ChainCosts& costs, const Borders& borders) {
  // Order first: a border moved past the end has no costs to ask for.
  if (std::ranges::adjacent_find(borders, std::greater_equal<>()) != borders.end()) return false;
  for (int s = 0; s < costs.stages(); ++s) {
    if (!costs.fits(s, borders[at(s)], borders[at(s) + 1], {})) return false;
  }
  return true;
}

class Descent {
 public:
  Descent(const CutBound& bound, const ChainCosts& costs, CutRecord& record, int most_scored)
      : bound_(bound), costs_(costs), record_(record), most_scored_(most_scored) {}

  /// Tries every move of `step` layers once; true where one was kept.
  Result<bool> try_all(int step) {
    bool improved = false;
    const int inner = costs_.stages() - 1;
    for (int width = 1; width <= inner; ++width) {
      for (int first = 1; first + width <= inner + 1; ++first) {
        for (const int move : {-step, step}) {
          if (record_.scored() >= most_scored_) return improved;
          const auto kept = try_move(first, width, move);
          if (!kept) return Failure(kept.error());
          improved = improved || *kept;
        }
      }
    }
    return improved;
  }

 private:
  /// Borders [first, first + width) move by `move` layers: the stages between keep their lengths.
  Result<bool> try_move(int first, int width, int move) {
    Borders moved = record_.borders();
    for (int b = first; b < first + width; ++b) moved[at(b)] += move;
    if (!is_cut_within_memory(costs_, moved)) return false;
    if (!record_.can_improve(bound_.of(moved))) return false;
    return record_.offer(moved);
  }

  const CutBound& bound_;
  const ChainCosts& costs_;
  CutRecord& record_;
  int most_scored_;
};

}  // namespace

Result<void> descend(const CutBound& bound, const ChainCosts& costs, CutRecord& record,
                     int most_scored) {
  Descent descent(bound, costs, record, most_scored);
  const auto share = static_cast<unsigned>(costs.layers() / costs.stages());
  int step = static_cast<int>(std::bit_floor(std::max(share, 1U)));
  while (step > 0 && record.scored() < most_scored) {
    const auto improved = descent.try_all(step);
    if (!improved) return Failure(improved.error());
    if (!*improved) step /= 2;
  }
  return {};
}

}  // namespace headrace
