#include "tests/planner/chain_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace::testing {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

void extend(Borders& borders, int layers, int stages,
            const std::function<void(const Borders&)>& visit) {
  const int placed = static_cast<int>(borders.size()) - 1;
  if (placed == stages - 1) {
    borders.push_back(layers);
    visit(borders);
    borders.pop_back();
    return;
  }
  for (int next = borders.back() + 1; next <= layers - (stages - 1 - placed); ++next) {
    borders.push_back(next);
    extend(borders, layers, stages, visit);
    borders.pop_back();
  }
}

std::int64_t worst_excess(const ChainProblem& problem, const Borders& borders) {
  std::int64_t worst = std::numeric_limits<std::int64_t>::min();
  for (int s = 0; s < static_cast<int>(problem.stages.size()); ++s) {
    const auto capacity = problem.stages[at(s)].capacity;
    if (capacity) worst = std::max(worst, stage_memory_bytes(problem, borders, s) - *capacity);
  }
  return worst;
}

}  // namespace

void for_each_cut(int layers, int stages, const std::function<void(const Borders&)>& visit) {
  Borders borders{0};
  extend(borders, layers, stages, visit);
}

std::int64_t stage_time(const ChainProblem& problem, const Borders& borders, int stage) {
  std::int64_t time = 0;
  for (int i = borders[at(stage)]; i < borders[at(stage) + 1]; ++i) {
    const auto layer = static_cast<double>(problem.layers[at(i)].time);
    time += std::llround(layer / problem.stages[at(stage)].speed);
  }
  return time;
}

std::int64_t stage_memory_bytes(const ChainProblem& problem, const Borders& borders, int stage) {
  const int first = borders[at(stage)];
  const int last = borders[at(stage) + 1];
  std::int64_t bytes = problem.border_bytes[at(first)] + problem.border_bytes[at(last)];
  std::int64_t workspace = 0;
  for (int i = first; i < last; ++i) {
    const ChainLayer& layer = problem.layers[at(i)];
    bytes += layer.state + problem.stages[at(stage)].in_flight * layer.activation;
    workspace = std::max(workspace, layer.workspace);
  }
  for (const ChainTie& tie : problem.ties) {
    if (tie.first >= first && tie.second < last) bytes -= tie.state;
  }
  return bytes + workspace;
}

std::optional<ChainPartition> best_cut_by_trying_all(const ChainProblem& problem) {
  std::optional<ChainPartition> best;
  const int stages = static_cast<int>(problem.stages.size());
  for_each_cut(static_cast<int>(problem.layers.size()), stages, [&](const Borders& borders) {
    if (worst_excess(problem, borders) > 0) return;
    ChainPartition cut{.borders = borders};
    for (int s = 0; s < stages; ++s) {
      cut.bottleneck = std::max(cut.bottleneck, stage_time(problem, borders, s));
      cut.border_bytes += problem.border_bytes[at(borders[at(s)])];
    }
    const bool better =
        !best || cut.bottleneck < best->bottleneck ||
        (cut.bottleneck == best->bottleneck && cut.border_bytes < best->border_bytes);
    if (better) best = cut;
  });
  return best;
}

std::int64_t shortfall_by_trying_all(const ChainProblem& problem) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for_each_cut(
      static_cast<int>(problem.layers.size()), static_cast<int>(problem.stages.size()),
      [&](const Borders& borders) { least = std::min(least, worst_excess(problem, borders)); });
  return least;
}

ChainProblem random_chain(std::mt19937_64& random, const ChainOptions& options) {
  const auto draw = [&random](int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  ChainProblem problem;
  const int layers = draw(1, 9);
  const int stages = draw(1, std::min(layers, 5));
  for (int i = 0; i < layers; ++i) {
    problem.layers.push_back({.time = draw(0, 9),
                              .state = draw(options.wide_borders ? 0 : 8, 12),
                              .activation = draw(0, 4),
                              .workspace = draw(0, 5)});
    problem.border_bytes.push_back(i == 0 ? 0 : draw(0, options.wide_borders ? 20 : 3));
  }
  problem.border_bytes.push_back(0);
  const int capacity = draw(15, 70);
  for (int s = 0; s < stages; ++s) {
    ChainStage stage{.in_flight = options.any_in_flight ? draw(1, 5) : stages - s};
    if (options.memory) stage.capacity = options.speeds ? draw(15, 70) : capacity;
    if (options.speeds) stage.speed = draw(1, 4) / 2.0;
    problem.stages.push_back(stage);
  }
  if (options.ties && layers >= 2) {
    const int second = draw(1, layers - 1);
    const int first = draw(0, second - 1);
    problem.ties.push_back(
        {.first = first,
         .second = second,
         .state = std::min(problem.layers[at(first)].state, problem.layers[at(second)].state)});
  }
  return problem;
}

}  // namespace headrace::testing
