#include "planner/chain_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/check.h"

namespace headrace {
namespace {

template <typename Value>
std::vector<std::int64_t> prefix_sums(std::span<const ChainLayer> layers, Value value) {
  std::vector<std::int64_t> sums(layers.size() + 1, 0);
  for (std::size_t i = 0; i < layers.size(); ++i) sums[i + 1] = sums[i] + value(layers[i]);
  return sums;
}

/// The greatest value of (first, most] for which `good` holds, first itself where none does; `good`
/// holds up to some value and never after.
template <typename Good>
int furthest(int first, int most, Good good) {
  int reached = first;
  int beyond = most + 1;
  while (beyond - reached > 1) {
    const int middle = reached + (beyond - reached) / 2;
    if (good(middle)) {
      reached = middle;
    } else {
      beyond = middle;
    }
  }
  return reached;
}

}  // namespace

ChainCosts::ChainCosts(const ChainProblem& problem)
    : layers_(static_cast<int>(problem.layers.size())),
      state_sums_(prefix_sums(problem.layers, [](const ChainLayer& l) { return l.state; })),
      activation_sums_(
          prefix_sums(problem.layers, [](const ChainLayer& l) { return l.activation; })),
      border_bytes_(problem.border_bytes),
      ties_(problem.ties) {
  HEADRACE_CHECK(!problem.stages.empty() && problem.stages.size() <= problem.layers.size(),
                 "a chain has at least one layer for every stage");
  HEADRACE_CHECK(problem.border_bytes.size() == problem.layers.size() + 1,
                 "a chain of n layers has n + 1 borders");
  add_speeds(problem);
  add_workspaces(problem);
  classify(problem);
}

void ChainCosts::add_speeds(const ChainProblem& problem) {
  std::vector<double> speeds;
  for (const ChainStage& stage : problem.stages) {
    auto found = std::ranges::find(speeds, stage.speed);
    if (found == speeds.end()) {
      const double speed = stage.speed;
      time_sums_.push_back(prefix_sums(problem.layers, [speed](const ChainLayer& l) {
        return speed == 1 ? l.time : std::llround(static_cast<double>(l.time) / speed);
      }));
      found = speeds.insert(speeds.end(), speed);
    }
    stages_.push_back({.speed_index = static_cast<int>(found - speeds.begin()),
                       .limited = stage.capacity.has_value(),
                       .capacity = stage.capacity.value_or(0),
                       .in_flight = stage.in_flight});
  }
}

void ChainCosts::add_workspaces(const ChainProblem& problem) {
  std::vector<std::int64_t> row;
  for (const ChainLayer& layer : problem.layers) row.push_back(layer.workspace);
  if (std::ranges::all_of(row, [](std::int64_t bytes) { return bytes == 0; })) return;
  workspaces_.push_back(row);
  for (std::size_t half = 1; 2 * half <= problem.layers.size(); half *= 2) {
    const auto& shorter = workspaces_.back();
    std::vector<std::int64_t> longer(shorter.size() - half);
    for (std::size_t i = 0; i < longer.size(); ++i) {
      longer[i] = std::max(shorter[i], shorter[i + half]);
    }
    workspaces_.push_back(std::move(longer));
  }
}

void ChainCosts::classify(const ChainProblem& problem) {
  bool limited = false;
  std::int64_t fewest_in_flight = problem.stages.front().in_flight;
  for (std::size_t s = 0; s < problem.stages.size(); ++s) {
    const ChainStage& stage = problem.stages[s];
    const ChainStage& before = problem.stages[s == 0 ? 0 : s - 1];
    limited = limited || stage.capacity.has_value();
    fewest_in_flight = std::min<std::int64_t>(fewest_in_flight, stage.in_flight);
    if (stage.speed != before.speed || stage.capacity != before.capacity ||
        (stage.capacity && stage.in_flight > before.in_flight)) {
      greedy_is_exact_ = false;
    }
  }
  if (!limited) return;
  // One more layer adds its activations and its own state (a tied copy may add none) and replaces
  // one border tensor by the next. Workspace only helps, so leaving it out is safe.
  std::vector<std::int64_t> least(problem.layers.size());
  for (std::size_t i = 0; i < least.size(); ++i) {
    least[i] = problem.layers[i].state + fewest_in_flight * problem.layers[i].activation;
  }
  for (const ChainTie& tie : ties_) {
    least[at(tie.first)] -= tie.state;
    least[at(tie.second)] -= tie.state;
  }
  for (std::size_t i = 0; i < least.size(); ++i) {
    if (least[i] < std::abs(border_bytes_[i + 1] - border_bytes_[i])) monotone_ = false;
  }
  greedy_is_exact_ = greedy_is_exact_ && monotone_;
}

std::int64_t ChainCosts::largest_workspace(int first, int last) const {
  if (workspaces_.empty()) return 0;
  const auto width = static_cast<unsigned>(last - first);
  const auto level = static_cast<std::size_t>(std::bit_width(width)) - 1;
  const auto& row = workspaces_[level];
  return std::max(row[at(first)], row[at(last) - (std::size_t{1} << level)]);
}

std::int64_t ChainCosts::state(int first, int last) const {
  std::int64_t bytes = state_sums_[at(last)] - state_sums_[at(first)];
  for (const ChainTie& tie : ties_) {
    if (first <= tie.first && tie.second < last) bytes -= tie.state;
  }
  return bytes;
}

std::int64_t ChainCosts::core_memory(int stage, int first, int last) const {
  return state(first, last) + stages_[at(stage)].in_flight * activation(first, last) +
         largest_workspace(first, last);
}

std::int64_t ChainCosts::excess(int stage, int first, int last) const {
  if (!stages_[at(stage)].limited) return std::numeric_limits<std::int64_t>::min();
  return memory(stage, first, last) - stages_[at(stage)].capacity;
}

bool ChainCosts::core_fits(int stage, int first, int last, const ChainLimit& limit) const {
  if (time(stage, first, last) > limit.time) return false;
  const Stage& place = stages_[at(stage)];
  return !place.limited || core_memory(stage, first, last) - place.capacity <= limit.extra_memory;
}

int ChainCosts::core_reach(int stage, int first, const ChainLimit& limit) const {
  return furthest(first, layers_, [&](int last) { return core_fits(stage, first, last, limit); });
}

int ChainCosts::reach(int stage, int first, const ChainLimit& limit) const {
  HEADRACE_CHECK(monotone_, "only monotone memory can be searched by halves");
  return furthest(first, layers_, [&](int last) { return fits(stage, first, last, limit); });
}

}  // namespace headrace
