// Actions per second of the event engine; every run checks the makespan against its closed form.
#include <cmath>

#include <benchmark/benchmark.h>

#include "simulator/engine.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

constexpr double kForward = 2;
constexpr double kBackward = 3;

double closed_form(int stages, int microbatches) {
  return (microbatches + stages - 1) * (kForward + kBackward);
}

/// The engine alone: what a planner pays per scored plan.
void time_only(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  const int microbatches = static_cast<int>(state.range(1));
  const SimulationInput input = testing::uniform_input(
      "1f1b", stages, microbatches, {.forward = kForward, .backward = kBackward});
  for (auto _ : state) {
    const double makespan = time_makespan(input).value().value();
    if (std::abs(makespan - closed_form(stages, microbatches)) > 1e-6 * makespan) {
      state.SkipWithError("the makespan is not (m + p - 1)(F + B)");
      break;
    }
  }
  state.counters["actions_per_s"] =
      benchmark::Counter(2.0 * stages * microbatches * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

/// With timeline, accounting, memory curve, critical path and formula: what `headrace simulate`
/// does.
void whole_report(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  const int microbatches = static_cast<int>(state.range(1));
  const SimulationInput input = testing::uniform_input(
      "1f1b", stages, microbatches, {.forward = kForward, .backward = kBackward});
  for (auto _ : state) {
    const double makespan = simulate(input).value().report.makespan.value();
    if (std::abs(makespan - closed_form(stages, microbatches)) > 1e-6 * makespan) {
      state.SkipWithError("the makespan is not (m + p - 1)(F + B)");
      break;
    }
  }
  state.counters["actions_per_s"] =
      benchmark::Counter(2.0 * stages * microbatches * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

BENCHMARK(time_only)
    ->Args({8, 32})
    ->Args({64, 1024})
    ->Args({128, 1024})
    ->Args({1024, 8192})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(whole_report)
    ->Args({8, 32})
    ->Args({64, 1024})
    ->Args({1024, 8192})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace
