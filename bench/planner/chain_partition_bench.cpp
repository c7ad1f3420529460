// How long the exact cut of long chains takes; every answer is checked against a plain DP.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include <benchmark/benchmark.h>

#include "planner/chain_costs.h"
#include "planner/chain_partition.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Log-normal layers in 1F1B with a limit that binds on the first stages.
ChainProblem long_chain(int layers, int stages) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> milliseconds(0, 0.5);
  ChainProblem problem;
  std::int64_t state = 0;
  std::int64_t activations = 0;
  for (int i = 0; i < layers; ++i) {
    ChainLayer layer{.time = static_cast<std::int64_t>(milliseconds(random) * 1e6),
                     .state = static_cast<std::int64_t>(random() % 100000000),
                     .activation = static_cast<std::int64_t>(random() % 2000000),
                     .workspace = static_cast<std::int64_t>(random() % 1000000)};
    state += layer.state;
    activations += layer.activation;
    problem.layers.push_back(layer);
  }
  problem.border_bytes.assign(at(layers) + 1, 0);
  for (int i = 1; i < layers; ++i) {
    problem.border_bytes[at(i)] = static_cast<std::int64_t>(random() % 2000);
  }
  for (int s = 0; s < stages; ++s) {
    problem.stages.push_back({.in_flight = stages - s});
  }
  // The least capacity that fits at all and a little more: memory decides the first borders.
  for (ChainStage& stage : problem.stages) stage.capacity = state / stages;
  const std::int64_t missing = smallest_shortfall(problem).bytes;
  for (ChainStage& stage : problem.stages) *stage.capacity += missing + activations / 100;
  return problem;
}

/// f_s(j) = min over i of max(f_{s-1}(i), time(i, j)), over all i: O(stages * layers^2).
std::int64_t bottleneck_by_plain_dp(const ChainProblem& problem) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  const ChainCosts costs(problem);
  std::vector<std::int64_t> before(at(costs.layers()) + 1, kNever);
  before[0] = 0;
  for (int s = 0; s < costs.stages(); ++s) {
    std::vector<std::int64_t> now(before.size(), kNever);
    for (int j = s + 1; j <= costs.layers(); ++j) {
      for (int i = s; i < j; ++i) {
        if (before[at(i)] == kNever || !costs.fits(s, i, j, {})) continue;
        now[at(j)] = std::min(now[at(j)], std::max(before[at(i)], costs.time(s, i, j)));
      }
    }
    before = std::move(now);
  }
  return before.back();
}

struct Reference {
  std::int64_t bottleneck = 0;
  double seconds = 0;
};

const Reference& reference_of(const ChainProblem& problem) {
  // Google Benchmark runs a case several times to find how often to repeat it.
  static std::map<std::tuple<std::size_t, std::size_t, double>, Reference> known;
  const auto [found, fresh] = known.try_emplace(
      {problem.layers.size(), problem.stages.size(), problem.stages.back().speed});
  if (fresh) {
    const auto begin = std::chrono::steady_clock::now();
    found->second.bottleneck = bottleneck_by_plain_dp(problem);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    found->second.seconds = took.count();
  }
  return found->second;
}

std::int64_t bottleneck_without_limits(ChainProblem problem) {
  for (ChainStage& stage : problem.stages) stage.capacity.reset();
  return partition_chain(problem)->bottleneck;
}

void time_partition(benchmark::State& state, const ChainProblem& problem) {
  const auto layers = static_cast<int>(problem.layers.size());
  const auto stages = static_cast<int>(problem.stages.size());
  const ChainCosts costs(problem);
  // The plain DP takes minutes at 10,000 layers; there the witness is checked instead: the cut
  // keeps every limit, and one nanosecond less has no cut.
  const bool compare = layers <= 1000;
  if (compare) reference_of(problem);
  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) {
    const auto cut = partition_chain(problem);
    bool right = cut.has_value();
    for (int s = 0; right && s < stages; ++s) {
      right =
          costs.fits(s, cut->borders[at(s)], cut->borders[at(s) + 1], {.time = cut->bottleneck});
    }
    right = right && !probe_chain(costs, {.time = cut->bottleneck - 1}).borders;
    if (compare) right = right && cut->bottleneck == reference_of(problem).bottleneck;
    if (!right) state.SkipWithError("the cut is wrong");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  state.counters["greedy"] = costs.greedy_is_exact() ? 1 : 0;
  state.counters["slower_by_memory"] = static_cast<double>(partition_chain(problem)->bottleneck) /
                                           static_cast<double>(bottleneck_without_limits(problem)) -
                                       1;
  if (!compare) return;
  const double seconds_each = took.count() / static_cast<double>(state.iterations());
  state.counters["times_faster_than_dp"] = reference_of(problem).seconds / seconds_each;
}

void partition_with_memory_limits(benchmark::State& state) {
  const auto layers = static_cast<int>(state.range(0));
  time_partition(state, long_chain(layers, static_cast<int>(state.range(1))));
}

/// The greedy is not exact here: sets of borders take its place.
void partition_on_unequal_devices(benchmark::State& state) {
  const auto layers = static_cast<int>(state.range(0));
  ChainProblem problem = long_chain(layers, static_cast<int>(state.range(1)));
  for (std::size_t s = 0; s < problem.stages.size(); ++s) {
    problem.stages[s].speed = s % 2 == 0 ? 1 : 1.5;
  }
  time_partition(state, problem);
}

BENCHMARK(partition_with_memory_limits)
    ->ArgNames({"layers", "stages"})
    ->Args({1000, 8})
    ->Args({1000, 64})
    ->Args({10000, 64})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(partition_on_unequal_devices)
    ->ArgNames({"layers", "stages"})
    ->Args({1000, 64})
    ->Args({10000, 64})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();
