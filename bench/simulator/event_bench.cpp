// Events per second where messages share links; every run checks the time against the plain engine.
#include <cmath>

#include <benchmark/benchmark.h>

#include "simulator/engine.h"
#include "simulator/event_engine.h"
#include "simulator/lowering.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

/// 1F1B whose neighbours share one wide link per pair: no message waits for another, so the times
/// are those of the engine without links. Events: computations and messages.
void shared_links(benchmark::State& state) {
  const int stages = static_cast<int>(state.range(0));
  const int microbatches = static_cast<int>(state.range(1));
  SimulationInput input =
      testing::uniform_input("1f1b", stages, microbatches, {.forward = 2, .backward = 3, .hop = 1});
  const double expected = time_makespan(input).value().value();
  input.schedule = lower(input.schedule).value();
  CommunicationModel& model = input.communication;
  for (int s = 0; s + 1 < stages; ++s) {
    for (auto* paths : {&model.forward_path, &model.backward_path}) {
      paths->push_back(
          {.size = Bytes{1'000'000}, .resources = {static_cast<int>(model.resources.size())}});
      model.resources.push_back(BytesPerSecond(1e6));
    }
  }
  model.forward_path.emplace_back();
  model.backward_path.emplace_back();
  for (auto _ : state) {
    const auto times = time_events(input, model).value();
    double last = 0;
    for (const Seconds end : times.end) last = std::max(last, end.value());
    if (std::abs(last - expected) > 1e-6 * expected) {
      state.SkipWithError("the time is not that of the plain engine");
      break;
    }
  }
  const double events = 2.0 * stages * microbatches + 2.0 * (stages - 1) * microbatches;
  state.counters["events_per_s"] = benchmark::Counter(
      events * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK(shared_links)->Args({8, 64})->Args({64, 512})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace
