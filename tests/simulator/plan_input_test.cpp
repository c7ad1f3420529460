#include <doctest/doctest.h>

#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

/// Two stages of 100 MB of gradients on devices that 50 GB/s join; the ends share weights.
Plan tied_plan() {
  Plan plan{.parallel = {.pipeline = 2}, .microbatches = 2};
  plan.inputs.cluster = uniform_cluster(
      4, Bytes(80'000'000'000), {.latency = Seconds(1e-6), .bandwidth = BytesPerSecond(50e9)});
  for (int s = 0; s < 2; ++s) {
    plan.stages.push_back({.devices = {"device" + std::to_string(s)},
                           .layers = {"layer" + std::to_string(s)},
                           .forward = {.mean = Seconds{1}},
                           .backward = {.mean = Seconds{2}},
                           .memory = {.gradients = Bytes(100'000'000)}});
  }
  plan.tied = {{.stages = {0, 1}, .gradient = Bytes(400'000'000)}};
  return plan;
}

SimulationInput input_of(const Plan& plan, const std::string& name, int devices) {
  const auto stages = static_cast<int>(plan.stages.size());
  const auto schedule = make_schedule(
      {.name = name, .devices = devices, .stages = stages, .microbatches = plan.microbatches});
  return simulation_input(plan, schedule.value()).value();
}

TEST_SUITE_BEGIN("simulator/plan_input");

TEST_CASE("O12 tied weights of two devices are reduced once at the speed of their link") {
  const SimulationInput input = input_of(tied_plan(), "1f1b", 2);
  REQUIRE(input.tied.size() == 1);
  CHECK(input.tied[0].time.value() == doctest::Approx(0.008 + 2e-6));
  const auto report = simulate(input).value().report;
  CHECK((report.iteration - report.makespan).value() == doctest::Approx(0.008).epsilon(0.001));
}

TEST_CASE("O12 tied weights that a V placement puts on one device need no reduction") {
  Plan plan = tied_plan();
  plan.parallel.virtual_stages = 2;
  plan.stages.insert(plan.stages.end(), {plan.stages[1], plan.stages[0]});
  plan.tied = {{.stages = {0, 3}, .gradient = Bytes(400'000'000)}};
  for (PlanStage& stage : plan.stages) stage.input_grad = stage.weight_grad = {.mean = Seconds{1}};
  CHECK(input_of(plan, "zbv", 2).tied.empty());
  CHECK(input_of(plan, "interleaved", 2).tied.size() == 1);
}

TEST_CASE("gradients of data replicas are reduced around a ring") {
  Plan plan = tied_plan();
  plan.tied.clear();
  plan.parallel.data = 2;
  plan.stages[0].devices = {"device0", "device2"};
  const SimulationInput input = input_of(plan, "1f1b", 2);
  CHECK(input.stages[0].reduce_gradient.value() == doctest::Approx(100e6 / 50e9 + 2e-6));
  CHECK(input.stages[1].reduce_gradient == Seconds{0});
}

TEST_CASE("both replicas of a two-way schedule add their gradients up") {
  Plan plan = tied_plan();
  plan.tied.clear();
  plan.microbatches = 4;
  for (PlanStage& stage : plan.stages) stage.input_grad = stage.weight_grad = {.mean = Seconds{1}};
  const SimulationInput input = input_of(plan, "dualpipe", 2);
  CHECK(input.stages.size() == 4);
  REQUIRE(input.tied.size() == 2);
  CHECK(input.tied[1].stages == std::vector<int>{1, 3});
  const auto report = simulate(input).value().report;
  CHECK(report.per_device[0].memory_items.gradients == Bytes(200'000'000));
  CHECK(report.per_device[0].capacity == Bytes(80'000'000'000));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
