// Rules that relate the times of one schedule to those of a changed one.
#include <random>

#include <doctest/doctest.h>

#include "simulator/engine.h"
#include "simulator/schedule_bounds.h"
#include "simulator/simulate.h"
#include "tests/support/long_tests.h"
#include "tests/support/random_schedule.h"

namespace headrace {
namespace {

using testing::between;
using testing::random_input;

/// Every time of `input` through `change`.
template <typename Change>
SimulationInput with_times(SimulationInput input, Change change) {
  for (StageCost& stage : input.stages) {
    stage.forward = change(stage.forward);
    stage.backward = change(stage.backward);
    stage.input_grad = change(*stage.input_grad);
    stage.weight_grad = change(*stage.weight_grad);
  }
  for (auto& durations : input.durations) {
    for (Seconds& time : durations) time = change(time);
  }
  for (Seconds& hop : input.hop_forward) hop = change(hop);
  for (Seconds& hop : input.hop_backward) hop = change(hop);
  return input;
}

double makespan(const SimulationInput& input) {
  return time_makespan(input).value().value();
}

int rounds() {
  return testing::long_tests() ? 100'000 : 2'000;
}

TEST_SUITE_BEGIN("simulator/metamorphic");

TEST_CASE("twice the times take twice as long") {
  std::mt19937 random(1);
  for (int round = 0; round < rounds(); ++round) {
    const SimulationInput input = random_input(random);
    const double once = makespan(input);
    REQUIRE(makespan(with_times(input, [](Seconds t) { return t * 2; })) == 2 * once);
    REQUIRE(makespan(with_times(input, [](Seconds) { return Seconds{0}; })) == 0);
  }
}

TEST_CASE("nothing that gets shorter makes a fixed order longer") {
  std::mt19937 random(2);
  for (int round = 0; round < rounds(); ++round) {
    const SimulationInput input = random_input(random);
    const SimulationInput shorter = with_times(input, [&](Seconds t) {
      return between(random, 0, 3) == 0 ? Seconds(between(random, 0, static_cast<int>(t.value())))
                                        : t;
    });
    REQUIRE(makespan(shorter) <= makespan(input));
  }
}

TEST_CASE("a stage that takes no time on a device of its own changes nothing but its hops") {
  std::mt19937 random(3);
  for (int round = 0; round < rounds(); ++round) {
    SimulationInput input = random_input(random);
    for (auto& durations : input.durations) durations.clear();
    const double before = makespan(input);
    const int last = input.schedule.stages++;
    input.schedule.device_of_stage.push_back(DeviceId{input.schedule.devices++});
    std::vector<Action>& row = input.schedule.rows.emplace_back();
    for (int m = 0; m < input.schedule.microbatches; ++m) {
      for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
        row.push_back({.kind = kind, .stage = StageId{last}, .microbatch = MicrobatchId{m}});
      }
    }
    input.stages.push_back({.input_grad = Seconds{0}, .weight_grad = Seconds{0}});
    input.hop_forward.push_back(Seconds{0});
    input.hop_backward.push_back(Seconds{0});
    input.hop_forward[static_cast<std::size_t>(last) - 1] = Seconds{0};
    input.hop_backward[static_cast<std::size_t>(last) - 1] = Seconds{0};
    const auto after = time_makespan(input);
    // In the new row micro-batches go in order; another order of the old rows may wait for it.
    if (after) REQUIRE(after->value() >= before);
  }
}

TEST_CASE("no schedule ends before its lower bound") {
  std::mt19937 random(4);
  for (int round = 0; round < rounds(); ++round) {
    SimulationInput input = random_input(random);
    for (auto& durations : input.durations) durations.clear();
    for (StageCost& stage : input.stages) stage.backward = *stage.input_grad + *stage.weight_grad;
    const auto outcome = simulate(input).value();
    REQUIRE(outcome.report.makespan >= outcome.report.makespan_bound - Seconds(1e-9));
  }
}

TEST_CASE("every device's times add up to the makespan") {
  std::mt19937 random(5);
  for (int round = 0; round < rounds() / 2; ++round) {
    const auto report = simulate(random_input(random)).value().report;
    for (const DeviceReport& device : report.per_device) {
      const Seconds sum = device.busy + device.exposed_communication + device.wait + device.idle;
      REQUIRE(sum.value() == doctest::Approx(report.makespan.value()));
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
