#include "planner/makespan_bound.h"

#include <algorithm>
#include <limits>

namespace headrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostSteps = 3e8;  // About a second.

}  // namespace

MakespanBounds::MakespanBounds(const CutBound& bound, const ChainCosts& costs, Seconds most)
    : bound_(bound), layers_(costs.layers()), stages_(costs.stages()), most_(most.value()) {
  find_ranges();
  fill_tables(costs);
}

double MakespanBounds::rest(int stage, int first) const {
  if (stage == stages_) return first == layers_ ? 0 : kNever;
  const Range range = ranges_[at(stage)];
  const bool inside = range.low <= first && first <= range.high;
  return inside ? rest_[at(stage)][at(first - range.low)] : kNever;
}

int MakespanBounds::lowest_end(int stage, int first) const {
  return std::max(first + 1, ranges_[at(stage) + 1].low);
}

/// Greedy from the left bounds each border from above, from the right from below: a later begin
/// never makes a stage of the same end busier, since M >= 1 and earliest uses the fastest device.
void MakespanBounds::find_ranges() {
  ranges_.assign(at(stages_) + 1, {});
  for (int s = 0; s < stages_; ++s) {
    int end = ranges_[at(s)].high;
    while (end < layers_ && !too_busy(s, ranges_[at(s)].high, end + 1)) ++end;
    ranges_[at(s) + 1].high = std::min(end, layers_ - (stages_ - 1 - s));
  }
  ranges_.back().low = layers_;
  for (int s = stages_ - 1; s > 0; --s) {
    const int end = ranges_[at(s) + 1].low;
    int begin = end;
    while (begin > s && !too_busy(s, begin - 1, end)) --begin;
    ranges_[at(s)].low = std::max(s, begin);
  }
}

void MakespanBounds::fill_tables(const ChainCosts& costs) {
  double steps = 0;
  for (int s = 0; s < stages_; ++s) {
    const Range begins = ranges_[at(s)];
    const Range ends = ranges_[at(s) + 1];
    steps += static_cast<double>(std::max(0, begins.high - begins.low + 1)) *
             std::max(0, ends.high - ends.low + 1);
  }
  complete_ = steps <= kMostSteps;
  if (!complete_) return;
  rest_.resize(at(stages_));
  for (int s = stages_ - 1; s >= 0; --s) {
    const Range range = ranges_[at(s)];
    for (int first = range.low; first <= range.high; ++first) {
      rest_[at(s)].push_back(least_rest(costs, s, first));
    }
  }
}

double MakespanBounds::least_rest(const ChainCosts& costs, int stage, int first) const {
  double least = kNever;
  for (int last = lowest_end(stage, first); last <= highest_end(stage); ++last) {
    const double own = bound_.busy(stage, first, last);
    if (own >= least || too_busy(stage, first, last)) break;  // Both only grow with `last`.
    if (!costs.fits(stage, first, last, {})) continue;
    const double later = stage + 1 == stages_
                             ? rest(stages_, last)
                             : bound_.passing(stage, first, last) + rest(stage + 1, last);
    least = std::min(least, std::max(own, later));
  }
  return least;
}

}  // namespace headrace
