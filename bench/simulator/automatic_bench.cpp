// The searched zero-bubble schedule; every run checks that it meets the lower bound.
#include <benchmark/benchmark.h>

#include "simulator/schedule_bounds.h"
#include "simulator/schedules/automatic_search.h"

namespace headrace {
namespace {

/// zero-bubble's own heuristic, recorded on one core of a shared two-core machine of this kind.
constexpr double kPeerSeconds = 47.9;  // p = 128, m = 1024

/// Equal stages, memory for 2 P micro-batches, no barrier: the span is the work of a stage.
void search(benchmark::State& state) {
  const int devices = static_cast<int>(state.range(0));
  const int microbatches = static_cast<int>(state.range(1));
  std::vector<DeviceId> place;
  for (int d = 0; d < devices; ++d) place.push_back(DeviceId{d});
  PipelineTask task = pipeline_task(equal_costs(devices), place, devices, microbatches);
  task.limit.assign(static_cast<std::size_t>(devices), 2.0 * devices);
  const SearchOptions options{.objective = ScheduleObjective::kSpan};
  for (auto _ : state) {
    const auto orders = search_orders(task, options);
    if (!orders || time_orders(task, *orders)->span != lower_bound(task, options.objective)) {
      state.SkipWithError("the span is not the lower bound");
      break;
    }
  }
  if (devices == 128) {
    state.counters["times_faster_than_zero_bubble"] = benchmark::Counter(
        kPeerSeconds * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  }
}

BENCHMARK(search)->Args({8, 32})->Args({64, 512})->Args({128, 1024})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace
