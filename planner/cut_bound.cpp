#include "planner/cut_bound.h"

#include <algorithm>

#include "core/check.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

CutBound::CutBound(const MakespanProblem& problem)
    : whole_(problem.passes == Passes::kWholeBackward), microbatches_(problem.microbatches) {
  const std::size_t layers = problem.chain.layers.size();
  const std::size_t stages = problem.chain.stages.size();
  HEADRACE_CHECK(problem.forward.size() == layers && problem.backward.size() == layers,
                 "one forward and one backward time for every layer");
  HEADRACE_CHECK(problem.links.size() + 1 == stages, "one link between neighbouring stages");
  forward_sums_.assign(layers + 1, 0);
  work_sums_.assign(layers + 1, 0);
  for (std::size_t i = 0; i < layers; ++i) {
    forward_sums_[i + 1] = forward_sums_[i] + problem.forward[i].value();
    work_sums_[i + 1] = work_sums_[i] + (problem.forward[i] + problem.backward[i]).value();
  }
  for (std::size_t s = 0; s < stages; ++s) {
    speeds_.push_back(problem.chain.stages[s].speed);
    fastest_ = std::max(fastest_, speeds_.back());
    std::vector<double> hops(layers + 1, 0);
    for (std::size_t border = 0; s + 1 < stages && border <= layers; ++border) {
      const Bytes size(problem.chain.border_bytes[border]);
      hops[border] = transfer_time(problem.links[s], size).value();
    }
    hops_.push_back(std::move(hops));
  }
}

double CutBound::busy(int stage, int first, int last) const {
  return microbatches_ * (work_sums_[at(last)] - work_sums_[at(first)]) / speeds_[at(stage)];
}

double CutBound::passing(int stage, int first, int last) const {
  const auto& sums = whole_ ? work_sums_ : forward_sums_;
  const double hop = hops_[at(stage)][at(last)];
  return (sums[at(last)] - sums[at(first)]) / speeds_[at(stage)] + (whole_ ? 2 * hop : hop);
}

double CutBound::earliest(int border) const {
  return (whole_ ? work_sums_ : forward_sums_)[at(border)] / fastest_;
}

Seconds CutBound::of(const Borders& borders) const {
  double arrived = 0;
  double bound = 0;
  for (int s = 0; s < stages(); ++s) {
    bound = std::max(bound, arrived + busy(s, borders[at(s)], borders[at(s) + 1]));
    arrived += passing(s, borders[at(s)], borders[at(s) + 1]);
  }
  return Seconds(bound);
}

Seconds CutBound::of_any() const {
  double heaviest = 0;
  double capacity = 0;
  for (std::size_t i = 0; i + 1 < work_sums_.size(); ++i) {
    heaviest = std::max(heaviest, work_sums_[i + 1] - work_sums_[i]);
  }
  for (const double speed : speeds_) capacity += speed;
  return Seconds(microbatches_ * std::max(work_sums_.back() / capacity, heaviest / fastest_));
}

}  // namespace headrace
