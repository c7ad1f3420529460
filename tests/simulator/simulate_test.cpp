#include "simulator/simulate.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/schedule_catalogue.h"
#include "tests/support/render.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using testing::input_for;
using testing::render;
using testing::uniform_input;

SimulationOutcome simulated(const SimulationInput& input) {
  return simulate(input).value();
}

Schedule csv(const char* text) {
  return schedule_from_csv(text, "test.csv").value();
}

double total_cost(const Formula& formula) {
  double total = 0;
  for (const FormulaAssumption& assumption : formula.assumptions) total += assumption.cost.value();
  return total;
}

TEST_SUITE_BEGIN("simulator/simulate");

TEST_CASE("gpipe runs all forwards and then all backwards") {
  const auto outcome = simulated(uniform_input("gpipe", 2, 3, {.backward = 1}));
  CHECK(render(outcome.timeline) ==
        "0 | F0 F1 F2 .  .  B0 B1 B2\n"
        "1 | .  F0 F1 F2 B0 B1 B2 .\n");
}

TEST_CASE("1f1b alternates after its warm-up") {
  const auto outcome = simulated(uniform_input("1f1b", 2, 3, {.backward = 1}));
  CHECK(render(outcome.timeline) ==
        "0 | F0 F1 .  B0 F2 B1 .  B2\n"
        "1 | .  F0 B0 F1 B1 F2 B2 .\n");
}

TEST_CASE("1f1b with fewer micro-batches than stages drains without hanging") {
  for (int m = 1; m <= 3; ++m) {
    CHECK(simulated(uniform_input("1f1b", 4, m)).report.makespan == Seconds(9 + 3.0 * m));
  }
}

TEST_CASE("a hop delays the receiver and costs the sender nothing") {
  const auto outcome = simulated(uniform_input("1f1b", 2, 1, {.backward = 1, .hop = 1}));
  CHECK(render(outcome.timeline) ==
        "0 | F0 .  .  .  .  B0\n"
        "1 | .  .  F0 B0 .  .\n");
}

TEST_CASE("hops between stages of one device are free") {
  const auto input = input_for(csv("0F0,1F0,1B0,0B0\n"), {1, 1}, {1, 1}, 5);
  CHECK(simulated(input).report.makespan == Seconds{4});
}

TEST_CASE("busy and exposed communication and wait and idle add up to the makespan") {
  const auto outcome = simulated(input_for(
      make_schedule({.name = "1f1b", .devices = 3, .stages = 3, .microbatches = 4}).value(),
      {1, 3, 2}, {2, 5, 1}, 0.5));
  for (const DeviceReport& device : outcome.report.per_device) {
    const Seconds sum = device.busy + device.exposed_communication + device.wait + device.idle;
    CHECK(sum.value() == doctest::Approx(outcome.report.makespan.value()));
  }
}

TEST_CASE("the time of a message on its way is exposed communication and the rest is waiting") {
  // device 1 waits 1 s for F0 of device 0 and 1 s for the hop before its first action: idle.
  // device 0 waits from 1 to 5 for B0: device 1 computes until 4 and the hop takes 1 s.
  const auto outcome = simulated(uniform_input("1f1b", 2, 1, {.backward = 1, .hop = 1}));
  CHECK(outcome.report.per_device[0].exposed_communication == Seconds{1});
  CHECK(outcome.report.per_device[0].wait == Seconds{3});
  CHECK(outcome.report.per_device[1].idle == Seconds{4});
}

TEST_CASE("bubble ratio and bubble overhead are both told") {
  const Simulation report = simulated(uniform_input("1f1b", 4, 8)).report;
  CHECK(report.bubble_ratio == doctest::Approx(3.0 / 11));
  CHECK(report.bubble_overhead == doctest::Approx(3.0 / 8));
}

TEST_CASE("the formula is exact for equal stages without hops") {
  const Formula formula = simulated(uniform_input("1f1b", 4, 8)).report.formula;
  CHECK(formula.total == Seconds{33});
  CHECK(formula.relative_error == doctest::Approx(0));
  for (const FormulaAssumption& assumption : formula.assumptions) {
    CHECK(assumption.cost.value() == doctest::Approx(0));
  }
}

TEST_CASE("the costs of the formula's assumptions add up to its error") {
  auto input = input_for(
      make_schedule({.name = "1f1b", .devices = 3, .stages = 3, .microbatches = 4}).value(),
      {1, 3, 2}, {2, 5, 1}, 0.5);
  input.optimizer = Seconds(0.25);
  const Simulation report = simulated(input).report;
  CHECK(report.formula.total == Seconds(6 * 8.0));
  CHECK(total_cost(report.formula) ==
        doctest::Approx((report.iteration - report.formula.total).value()));
  CHECK(report.formula.assumptions.back().cost.value() == doctest::Approx(0.25));
}

TEST_CASE("split backward sends the input gradient before the weight gradient") {
  auto input = input_for(csv("0F0,0I0,0W0\n1F0,1I0,1W0\n"), {1, 1}, {2, 2});
  for (StageCost& stage : input.stages) stage.input_grad = stage.weight_grad = Seconds{1};
  CHECK(render(simulated(input).timeline) ==
        "0 | F0 .  .  I0 W0\n"
        "1 | .  F0 I0 W0 .\n");
}

TEST_CASE("a split schedule without times for I and W is refused with the way out") {
  const auto outcome = simulate(input_for(csv("0F0,0I0,0W0\n"), {1}, {2}));
  REQUIRE_FALSE(outcome.has_value());
  CHECK(to_string(outcome.error()) ==
        "stage 0: the schedule splits backward into I and W, but stage 0 has no times for them\n"
        "  fix: profile with split backward, or assume a share: --weight-grad-share 0.5");
}

TEST_CASE("a deadlock names both devices and what each waits for") {
  const auto outcome =
      simulate(input_for(csv("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n"), {1, 1}, {1, 1}));
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().code == ErrorCode::kDeadlock);
  CHECK(outcome.error().cycle == std::vector<BlockedAction>{{0, "0B0", "1B0"}, {1, "1F1", "0F1"}});
}

TEST_CASE("a device that waits for its own later action is a deadlock of one") {
  const auto outcome = simulate(input_for(csv("1F0,0F0,1B0,0B0\n"), {1, 1}, {1, 1}));
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().cycle == std::vector<BlockedAction>{{0, "1F0", "0F0"}});
}

TEST_CASE("explicit sends leave when the row reaches them") {
  // The send of F0 stands behind F1, so stage 1 starts one second later than without it.
  const auto schedule =
      csv("0F0,0F1,0SEND_F0,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
          "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  CHECK(render(simulated(input_for(schedule, {1, 1}, {1, 1})).timeline) ==
        "0 | F0 F1 .  .  B0 .  B1\n"
        "1 | .  .  F0 B0 F1 B1 .\n");
}

TEST_CASE("peak memory is fixed memory plus activations in flight") {
  auto input = uniform_input("1f1b", 4, 8);
  for (StageCost& stage : input.stages) {
    stage.saved_activation = Bytes{10};
    stage.fixed.parameters = Bytes{100};
  }
  const SimulationOutcome outcome = simulated(input);
  CHECK(outcome.report.per_device[0].peak_memory == Bytes{140});
  CHECK(outcome.report.per_device[3].peak_memory == Bytes{110});
  CHECK(outcome.report.per_device[0].memory_items.activations == Bytes{40});
  CHECK(outcome.timeline.memory.size() == 2 * 8 * 4);
  CHECK(outcome.timeline.memory.back().bytes == Bytes{100});
}

TEST_CASE("the critical path starts at zero and ends with the last action") {
  const auto outcome = simulated(uniform_input("1f1b", 2, 2, {.backward = 1}));
  //   0 | F0 F1 .  B0 .  B1
  //   1 | .  F0 B0 F1 B1 .
  CHECK(outcome.report.critical_path ==
        std::vector<Action>{*action_from_text("0F0"), *action_from_text("1F0"),
                            *action_from_text("1B0"), *action_from_text("1F1"),
                            *action_from_text("1B1"), *action_from_text("0B1")});
}

TEST_CASE("semantics that block devices are simulated with sends and receives added") {
  auto input = uniform_input("1f1b", 4, 8, {.hop = 0.25});
  std::vector<double> makespans;
  for (const auto semantics :
       {CommunicationSemantics::kAsync, CommunicationSemantics::kBlockingReceive,
        CommunicationSemantics::kBatched}) {
    input.communication.semantics = semantics;
    const SimulationOutcome outcome = simulated(input);
    CHECK(outcome.report.communication == name_of(semantics));
    CHECK(outcome.timeline.events.size() == 4 * 8 * 2);
    CHECK(simulated_iteration(input).value() == outcome.report.iteration);
    CHECK(to_string(outcome.report.critical_path.front()) == "0F0");
    CHECK(total_cost(outcome.report.formula) ==
          doctest::Approx((outcome.report.iteration - outcome.report.formula.total).value()));
    makespans.push_back(outcome.report.makespan.value());
  }
  CHECK(makespans.front() == *std::ranges::min_element(makespans));
  CHECK(makespans.front() == 37);  // O09: 1F1B with hops of 0.25.
}

TEST_CASE("every schedule ends under every semantics with a critical path or a named cycle") {
  int ended = 0;
  for (const std::string_view name : schedule_names()) {
    const int v = default_virtual_stages(name);
    SimulationInput input{
        .schedule =
            make_schedule(
                {.name = std::string(name), .devices = 4, .stages = 4 * v, .microbatches = 8})
                .value()};
    const auto stages = static_cast<std::size_t>(input.schedule.stages);
    input.stages.assign(stages, {.forward = Seconds{1},
                                 .backward = Seconds{2},
                                 .input_grad = Seconds{1},
                                 .weight_grad = Seconds{1}});
    input.hop_forward.assign(stages, Seconds(0.25));
    input.hop_backward = input.hop_forward;
    for (const auto semantics :
         {CommunicationSemantics::kAsync, CommunicationSemantics::kBlockingReceive,
          CommunicationSemantics::kRendezvous, CommunicationSemantics::kBatched}) {
      input.communication.semantics = semantics;
      const auto outcome = simulate(input);
      if (!outcome) {
        CHECK_FALSE(outcome.error().cycle.empty());
        continue;
      }
      ++ended;
      const Action first = outcome->report.critical_path.front();
      CHECK(first.kind == ActionKind::kForward);
      CHECK(is_first_stage(input.schedule, number_of(first.stage)));
    }
  }
  CHECK(ended >= 3 * 11);
}

TEST_CASE("a forward-only schedule has a formula of forwards") {
  const auto outcome = simulated(input_for(csv("0F0,0F1\n1F0,1F1\n"), {1, 1}, {2, 2}));
  CHECK(outcome.report.makespan == Seconds{3});
  CHECK(outcome.report.formula.total == Seconds{3});
}

TEST_CASE("the planner's short cut gives the same time as the simulation") {
  const auto input = uniform_input("gpipe", 5, 7, {.forward = 1.5, .backward = 2.5, .hop = 0.25});
  CHECK(simulated_iteration(input).value() == simulated(input).report.iteration);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
