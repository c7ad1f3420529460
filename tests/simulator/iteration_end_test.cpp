#include "simulator/iteration_end.h"

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/simulate.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using testing::uniform_input;

/// 1F1B, 2 stages, 2 micro-batches, F = 1, B = 2: device 1 ends at 7, device 0 at 9.
///   0 | F0 F1 .  B0 B0 .  B1 B1       (0F0 0F1 … 0B1 ends at 9)
///   1 | .  F0 B0 B0 F1 B1 B1
SimulationInput two_stages() {
  return uniform_input("1f1b", 2, 2);
}

std::string event_text(const Timeline& timeline) {
  std::string text;
  for (const TimelineEvent& event : timeline.events) {
    if (is_compute(event.action.kind)) continue;
    text += (text.empty() ? "" : " ") + to_string(event.action) + "@" +
            std::to_string(static_cast<int>(event.start.value())) + "-" +
            std::to_string(static_cast<int>(event.end.value()));
  }
  return text;
}

TEST_SUITE_BEGIN("simulator/iteration_end");

TEST_CASE("gradient reduction hides behind the cool-down of earlier stages") {
  SimulationInput input = two_stages();
  for (StageCost& stage : input.stages) stage.reduce_gradient = Seconds{3};
  input.optimizer = Seconds{1};
  const auto outcome = simulate(input).value();
  CHECK(outcome.report.makespan == Seconds{9});
  CHECK(event_text(outcome.timeline) ==
        "0REDUCE_GRAD@9-12 0OPTIMIZER@12-13 1REDUCE_GRAD@7-10 "
        "1OPTIMIZER@12-13");
  CHECK(outcome.report.iteration == Seconds{13});
  CHECK(simulated_iteration(input).value() == Seconds{13});
  // Device 1 started at 1 and had everything at 10; device 0 started at 0 and had it at 12.
  CHECK(outcome.report.iteration_without_barrier == Seconds{13});
}

TEST_CASE("without a barrier the first stage's idle start does not count") {
  SimulationInput input = two_stages();
  input.stages[1].reduce_gradient = Seconds{5};
  const auto outcome = simulate(input).value();
  CHECK(outcome.report.iteration == Seconds{12});
  CHECK(outcome.report.iteration_without_barrier == Seconds{11});
}

TEST_CASE("stages of one device reduce one after the other in the order in which they end") {
  SimulationInput input = testing::input_for(
      schedule_from_csv("0F0,2F0,2B0,0B0\n1F0,1B0\n", "test").value(), {1, 1, 1}, {2, 2, 2});
  input.stages[0].reduce_gradient = Seconds{4};
  input.stages[2].reduce_gradient = Seconds{6};
  // 2B0 ends at 5, 1B0 at 7, 0B0 at 9; the network of device 0 is free at 11.
  const auto outcome = simulate(input).value();
  CHECK(event_text(outcome.timeline) == "2REDUCE_GRAD@5-11 0REDUCE_GRAD@11-15");
  CHECK(outcome.report.iteration == Seconds{15});
}

TEST_CASE("tied weights are added up when every stage that has them is done") {
  SimulationInput input = two_stages();
  input.tied = {{.stages = {0, 1}, .time = Seconds{2}}};
  input.stages[1].reduce_gradient = Seconds{5};
  const auto outcome = simulate(input).value();
  CHECK(event_text(outcome.timeline) == "0REDUCE_TIED@12-14 1REDUCE_GRAD@7-12 1REDUCE_TIED@12-14");
  CHECK(simulated_iteration(input).value() == Seconds{14});
}

TEST_CASE("a fixed cost is what the formula leaves out") {
  SimulationInput input = two_stages();
  input.tied = {{.stages = {0, 1}, .time = Seconds{2}}};
  input.optimizer = Seconds{1};
  const auto formula = simulate(input).value().report.formula;
  CHECK(formula.assumptions.back().name == "no_fixed_cost");
  CHECK(formula.assumptions.back().cost == Seconds{3});
}

TEST_CASE("inference ends with its last forward whatever an update would take") {
  SimulationInput input = uniform_input("forward-only", 2, 3);
  input.optimizer = Seconds{7};
  CHECK(simulate(input).value().report.iteration == Seconds{4});
  CHECK(simulated_iteration(input).value() == Seconds{4});
}

TEST_CASE("a pipeline that is never drained runs at the pace of its slowest stage") {
  for (const double hop : {0.0, 0.25}) {
    SimulationInput input = uniform_input("1f1b", 4, 64, {.hop = hop});
    input.stages[2].backward = Seconds{4};
    input.schedule.flushes = false;
    const auto report = simulate(input).value().report;
    REQUIRE(report.steady_microbatch.has_value());
    // Stage 2 keeps two in flight: with hops it waits for stage 3 there and back every other time.
    CHECK(report.steady_microbatch->value() == doctest::Approx(5));
    CHECK(report.iteration.value() == doctest::Approx(64 * report.steady_microbatch->value()));
    CHECK(report.iteration == simulated_iteration(input).value());
    CHECK(report.iteration < report.makespan);
  }
}

TEST_CASE("equal stages without flush pay their hops in every round of P micro-batches") {
  SimulationInput input = uniform_input("1f1b", 4, 80, {.hop = 0.1});
  input.schedule.flushes = false;
  // 1F1B pays 2 (P - 1) c / P per micro-batch: only P are in flight.
  CHECK(simulate(input).value().report.steady_microbatch->value() ==
        doctest::Approx(3 + 2 * 3 * 0.1 / 4));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
