// Actions per second of the event engine; every run checks the makespan against its closed form.
#include <cmath>
#include <string>

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

/// The makespan of ZB-H1 with F = I = W = 1: m S + (p - 1)(F + I - W), for m >= p.
double zero_bubble_form(int stages, int microbatches) {
  return 3.0 * microbatches + stages - 1;
}

/// From nothing to the time: makes the schedule, then runs it. ZB-H1 has F, I and W.
void generate_and_time(benchmark::State& state, const std::string& name) {
  const int stages = static_cast<int>(state.range(0));
  const int microbatches = static_cast<int>(state.range(1));
  const bool split = name == "zb-h1";
  const StageCost cost{.forward = Seconds{split ? 1 : kForward},
                       .backward = Seconds{kBackward},
                       .input_grad = Seconds{1},
                       .weight_grad = Seconds{1}};
  const double expected =
      split ? zero_bubble_form(stages, microbatches) : closed_form(stages, microbatches);
  for (auto _ : state) {
    const auto count = static_cast<std::size_t>(stages);
    const SimulationInput input{
        .schedule =
            make_schedule(
                {.name = name, .devices = stages, .stages = stages, .microbatches = microbatches})
                .value(),
        .stages = std::vector<StageCost>(count, cost),
        .hop_forward = std::vector<Seconds>(count),
        .hop_backward = std::vector<Seconds>(count)};
    const double makespan = time_makespan(input).value().value();
    if (std::abs(makespan - expected) > 1e-6 * makespan) {
      state.SkipWithError("the makespan is not that of the closed form");
      break;
    }
  }
  state.counters["actions_per_s"] = benchmark::Counter(
      (split ? 3.0 : 2.0) * stages * microbatches * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(generate_and_time, one_f_one_b, std::string("1f1b"))
    ->Args({128, 32768})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate_and_time, zero_bubble, std::string("zb-h1"))
    ->Args({1024, 8192})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(time_only)
    ->Args({8, 32})
    ->Args({64, 1024})
    ->Args({128, 1024})
    ->Args({128, 32768})
    ->Args({1024, 8192})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(whole_report)
    ->Args({8, 32})
    ->Args({64, 1024})
    ->Args({1024, 8192})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace
