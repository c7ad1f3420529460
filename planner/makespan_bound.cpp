#include "planner/makespan_bound.h"

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace headrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostSteps = 3e8;  // About a second.

double fastest_of(const ChainProblem& chain) {
  double fastest = 0;
  for (const ChainStage& stage : chain.stages) fastest = std::max(fastest, stage.speed);
  return fastest;
}

}  // namespace

MakespanBounds::MakespanBounds(const MakespanProblem& problem, const ChainCosts& costs,
                               Seconds most)
    : layers_(costs.layers()),
      stages_(costs.stages()),
      most_((most - problem.optimizer).value()),
      microbatches_(problem.microbatches),
      whole_(problem.passes == Passes::kWholeBackward),
      forward_sums_(at(costs.layers()) + 1, 0),
      work_sums_(at(costs.layers()) + 1, 0) {
  HEADRACE_CHECK(problem.forward.size() == at(layers_) && problem.backward.size() == at(layers_),
                 "one forward and one backward time for every layer");
  for (std::size_t i = 0; i < at(layers_); ++i) {
    forward_sums_[i + 1] = forward_sums_[i] + problem.forward[i].value();
    work_sums_[i + 1] = work_sums_[i] + (problem.forward[i] + problem.backward[i]).value();
  }
  for (int s = 0; s < stages_; ++s) {
    speeds_.push_back(problem.chain.stages[at(s)].speed);
    std::vector<double> hops(at(layers_) + 1, 0);
    for (int border = 0; s + 1 < stages_ && border <= layers_; ++border) {
      const Bytes size(costs.border_bytes(border));
      hops[at(border)] = transfer_time(problem.links[at(s)], size).value();
    }
    hops_.push_back(std::move(hops));
  }
  find_ranges(fastest_of(problem.chain));
  fill_tables(costs);
}

double MakespanBounds::busy(int stage, int first, int last) const {
  return microbatches_ * (work_sums_[at(last)] - work_sums_[at(first)]) / speeds_[at(stage)];
}

double MakespanBounds::passing(int stage, int first, int last) const {
  const auto& sums = whole_ ? work_sums_ : forward_sums_;
  const double hop = hops_[at(stage)][at(last)];
  return (sums[at(last)] - sums[at(first)]) / speeds_[at(stage)] + (whole_ ? 2 * hop : hop);
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
void MakespanBounds::find_ranges(double fastest) {
  const auto& passing_sums = whole_ ? work_sums_ : forward_sums_;
  for (const double sum : passing_sums) earliest_.push_back(sum / fastest);
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
    const double own = busy(stage, first, last);
    if (own >= least || too_busy(stage, first, last)) break;  // Both only grow with `last`.
    if (!costs.fits(stage, first, last, {})) continue;
    const double later = stage + 1 == stages_ ? rest(stages_, last)
                                              : passing(stage, first, last) + rest(stage + 1, last);
    least = std::min(least, std::max(own, later));
  }
  return least;
}

Seconds MakespanBounds::simple(const MakespanProblem& problem) {
  double total = 0;
  double heaviest = 0;
  double capacity = 0;
  for (std::size_t i = 0; i < problem.forward.size(); ++i) {
    const double work = (problem.forward[i] + problem.backward[i]).value();
    total += work;
    heaviest = std::max(heaviest, work);
  }
  for (const ChainStage& stage : problem.chain.stages) capacity += stage.speed;
  const double busiest = std::max(total / capacity, heaviest / fastest_of(problem.chain));
  return Seconds(problem.microbatches * busiest) + problem.optimizer;
}

Seconds MakespanBounds::of_cut(const MakespanProblem& problem, const Borders& borders) {
  const bool whole = problem.passes == Passes::kWholeBackward;
  Seconds arrived{0};
  Seconds bound{0};
  for (std::size_t s = 0; s + 1 < borders.size(); ++s) {
    Seconds forward{0};
    Seconds backward{0};
    for (auto i = at(borders[s]); i < at(borders[s + 1]); ++i) {
      forward += problem.forward[i] / problem.chain.stages[s].speed;
      backward += problem.backward[i] / problem.chain.stages[s].speed;
    }
    bound = std::max(bound, arrived + problem.microbatches * (forward + backward));
    arrived += whole ? forward + backward : forward;
    if (s + 2 == borders.size()) break;
    const Bytes size(problem.chain.border_bytes[at(borders[s + 1])]);
    arrived += (whole ? 2.0 : 1.0) * transfer_time(problem.links[s], size);
  }
  return bound + problem.optimizer;
}

}  // namespace headrace
