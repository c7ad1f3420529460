// Configurations per second of a what-if sweep; every answer is checked against its closed form.
#include <cmath>
#include <thread>

#include <benchmark/benchmark.h>

#include "simulator/what_if.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

/// 10,000 pipelines of 8 stages and 64 micro-batches whose times differ, 1F1B and GPipe in turn.
void sweep(benchmark::State& state) {
  constexpr int kConfigurations = 10'000;
  std::vector<SimulationInput> inputs;
  std::vector<double> expected;
  for (int i = 0; i < kConfigurations; ++i) {
    const double forward = 1 + i * 1e-4;
    inputs.push_back(testing::uniform_input(i % 2 == 0 ? "1f1b" : "gpipe", 8, 64,
                                            {.forward = forward, .backward = 2 * forward}));
    expected.push_back((64 + 8 - 1) * 3 * forward);
  }
  const WhatIfOptions options{.threads = static_cast<int>(std::thread::hardware_concurrency()),
                              .detailed = state.range(0) == 1};
  for (auto _ : state) {
    const auto results = evaluate(inputs, options);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (std::abs(results[i]->iteration.value() - expected[i]) < 1e-9 * expected[i]) continue;
      state.SkipWithError("an iteration is not (m + p - 1)(F + B)");
      return;
    }
  }
  state.counters["configurations_per_s"] = benchmark::Counter(
      kConfigurations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK(sweep)->ArgName("detailed")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace headrace
