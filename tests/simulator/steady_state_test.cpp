#include "simulator/steady_state.h"

#include <doctest/doctest.h>

#include "simulator/random.h"
#include "simulator/schedule_catalogue.h"

namespace headrace {
namespace {

using doctest::Approx;

/// Uneven stages with costs that are no round numbers.
InputOfLength pipeline(const std::string& name, int devices, int per_device, std::uint64_t seed) {
  return [=](int microbatches) -> Result<SimulationInput> {
    std::map<std::string, std::string> parameters;
    if (name == "interleaved") parameters = {{"group", std::to_string(devices)}};
    auto schedule = make_schedule({.name = name,
                                   .parameters = parameters,
                                   .devices = devices,
                                   .stages = devices * per_device,
                                   .microbatches = microbatches});
    if (!schedule) return Failure(schedule.error());
    Random random(seed, 0);
    SimulationInput input{.schedule = *std::move(schedule), .optimizer = Seconds(0.7)};
    for (int s = 0; s < devices * per_device; ++s) {
      const Seconds input_grad(0.5 + random.uniform());
      const Seconds weight_grad(0.3 + random.uniform());
      input.stages.push_back({.forward = Seconds(0.4 + random.uniform()),
                              .backward = input_grad + weight_grad,
                              .input_grad = input_grad,
                              .weight_grad = weight_grad,
                              .reduce_gradient = Seconds(0.2)});
      input.hop_forward.emplace_back(0.2 * random.uniform());
      input.hop_backward.emplace_back(0.2 * random.uniform());
    }
    return input;
  };
}

TEST_SUITE_BEGIN("simulator/steady_state");

TEST_CASE("a long run has the times of its whole simulation") {
  int found = 0;
  for (const auto& [name, per_device] : {std::pair{"1f1b", 1},
                                         {"eager-1f1b", 1},
                                         {"zb-h1", 1},
                                         {"zb-h2", 1},
                                         {"interleaved", 2},
                                         {"group-interleaved", 2},
                                         {"zbv", 2},
                                         {"dualpipev", 2}}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const int microbatches = 4 * 700;
      const InputOfLength input_of = pipeline(name, 4, per_device, seed);
      const auto quick = simulate_long(input_of, microbatches);
      if (!quick) continue;
      ++found;
      CAPTURE(name);
      const Simulation whole = simulate(input_of(microbatches).value()).value().report;
      CHECK(quick->makespan.value() == Approx(whole.makespan.value()).epsilon(1e-8));
      CHECK(quick->span.value() == Approx(whole.span.value()).epsilon(1e-8));
      CHECK(quick->iteration.value() == Approx(whole.iteration.value()).epsilon(1e-8));
      CHECK(quick->bubble_ratio == Approx(whole.bubble_ratio).epsilon(1e-6));
      CHECK(quick->formula.total.value() == Approx(whole.formula.total.value()));
      for (std::size_t d = 0; d < 4; ++d) {
        CHECK(quick->per_device[d].wait.value() ==
              Approx(whole.per_device[d].wait.value()).epsilon(1e-6));
        CHECK(quick->per_device[d].peak_activations == whole.per_device[d].peak_activations);
      }
    }
  }
  CHECK(found >= 18);
}

TEST_CASE("a million micro-batches cost what their start and end cost") {
  const auto report = simulate_long(pipeline("1f1b", 8, 1, 5), 1'000'000);
  REQUIRE(report.has_value());
  CHECK(report->microbatches == 1'000'000);
  CHECK(report->makespan > report->ideal);
  CHECK(report->bubble_overhead < 0.2);
}

TEST_CASE("what does not repeat is left to the whole simulation") {
  CHECK_FALSE(simulate_long(pipeline("gpipe", 4, 1, 1), 100'000).has_value());
  CHECK_FALSE(simulate_long(pipeline("1f1b", 4, 1, 1), 100).has_value());
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
