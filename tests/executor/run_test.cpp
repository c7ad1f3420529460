#include "executor/run.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"
#include "tests/support/schedule_builders.h"

TEST_SUITE_BEGIN("executor/run");

namespace headrace::testing {
namespace {

/// Equal stages on devices of their own with one kind of link.
Plan plan_of(int stages, Seconds forward, const LinkSpeed& link) {
  Plan plan;
  plan.inputs.cluster = uniform_cluster(stages, std::nullopt, link);
  for (int s = 0; s < stages; ++s) {
    PlanStage& stage = plan.stages.emplace_back();
    stage.devices = {fmt::format("device{}", s)};
    stage.layers = {fmt::format("layer{}", s)};
    stage.forward.mean = forward;
    stage.backward.mean = forward * 2;
  }
  plan.stages[0].output = Bytes{1000};
  return plan;
}

const RunOptions kOnce{.warmup = 1, .iterations = 1, .timeout = Seconds{30}};

std::vector<Action> compute_actions(const Timeline& timeline, int device) {
  std::vector<Action> actions;
  for (const TimelineEvent& event : timeline.events) {
    if (number_of(event.device) == device && is_compute(event.action.kind)) {
      actions.push_back(event.action);
    }
  }
  return actions;
}

const TimelineEvent& event_of(const Timeline& timeline, std::string_view action) {
  const auto found =
      std::ranges::find(timeline.events, *action_from_text(action), &TimelineEvent::action);
  REQUIRE(found != timeline.events.end());
  return *found;
}

}  // namespace

TEST_CASE("an emulated 1F1B of 4 stages and 8 micro-batches has the simulated order") {
  const auto schedule =
      make_schedule({.name = "1f1b", .devices = 4, .stages = 4, .microbatches = 8});
  REQUIRE(schedule.has_value());
  const Plan plan = plan_of(4, Seconds{0.002}, {});
  const auto measured = run_emulated(plan, *schedule, kOnce);
  REQUIRE(measured.has_value());
  CHECK(measured->source == TimelineSource::kEmulated);
  const auto simulated = simulate(*simulation_input(plan, *schedule));
  REQUIRE(simulated.has_value());
  for (int d = 0; d < 4; ++d) {
    CHECK(compute_actions(*measured, d) == compute_actions(simulated->timeline, d));
  }
}

TEST_CASE("an emulated iteration is never faster than simulated and on a calm machine not slower") {
  const auto schedule =
      make_schedule({.name = "1f1b", .devices = 4, .stages = 4, .microbatches = 8});
  REQUIRE(schedule.has_value());
  const Plan plan = plan_of(4, Seconds{0.003}, {});
  const auto measured = run_emulated(plan, *schedule, kOnce);
  REQUIRE(measured.has_value());
  const double expected = (8 + 4 - 1) * 0.009;
  CHECK(makespan_of(*measured).value() > expected * 0.99);
  // A machine that is busy with other things may be late, but not by much of this.
  CHECK(makespan_of(*measured).value() < expected * 4);
}

TEST_CASE("a hop lasts its link's latency and bytes over bandwidth") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  const LinkSpeed link{.latency = Seconds{0.01}, .bandwidth = BytesPerSecond{1e5}};
  const auto measured = run_emulated(plan_of(2, Seconds{0.001}, link), schedule, kOnce);
  REQUIRE(measured.has_value());
  const double hop = 0.01 + 1000 / 1e5;
  CHECK((event_of(*measured, "1F0").start - event_of(*measured, "0F0").end).value() >= hop);
  CHECK((event_of(*measured, "0B0").start - event_of(*measured, "1B0").end).value() >= hop);
}

TEST_CASE("stages on one device are no hop") {
  const Schedule schedule = schedule_of("0F0,1F0,1B0,0B0\n");
  const LinkSpeed link{.latency = Seconds{10}, .bandwidth = BytesPerSecond{0}};
  const auto measured = run_emulated(plan_of(2, Seconds{0.001}, link), schedule, kOnce);
  REQUIRE(measured.has_value());
  CHECK(makespan_of(*measured) < Seconds{5});
}

TEST_CASE("a message that takes longer than the timeout is named") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  const LinkSpeed link{.latency = Seconds{30}, .bandwidth = BytesPerSecond{0}};
  RunOptions options = kOnce;
  options.timeout = Seconds{0.4};
  const auto measured = run_emulated(plan_of(2, Seconds{0.001}, link), schedule, options);
  REQUIRE_FALSE(measured.has_value());
  CHECK(measured.error().code == ErrorCode::kTimeout);
}

TEST_CASE("the optimizer counts for the iteration and not for the makespan") {
  const Schedule schedule = schedule_of("0F0,0B0\n");
  Plan plan = plan_of(1, Seconds{0.001}, {});
  plan.optimizer_step.mean = Seconds{0.02};
  const auto measured = run_emulated(plan, schedule, kOnce);
  REQUIRE(measured.has_value());
  const IterationTime& time = measured->iterations.at(0);
  CHECK((time.iteration - time.makespan).value() >= 0.0199);
}

TEST_CASE("a split schedule needs split times") {
  const Schedule schedule = schedule_of("0F0,0I0,0W0\n");
  Plan plan = plan_of(1, Seconds{0.001}, {});
  const auto refused = run_emulated(plan, schedule, kOnce);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kBadInput);
  CHECK(refused.error().where == "plan: /stages/0");
  plan.stages[0].input_grad = Duration{.mean = Seconds{0.001}};
  plan.stages[0].weight_grad = Duration{.mean = Seconds{0.001}};
  CHECK(run_emulated(plan, schedule, kOnce).has_value());
}

TEST_CASE("plan and schedule must have as many stages") {
  const auto refused =
      run_emulated(plan_of(3, Seconds{0.001}, {}), schedule_of("0F0,0B0\n1F0,1B0\n"), kOnce);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().what == "the plan has 3 stages, the schedule 2");
}

TEST_CASE("no measured iteration is a usage error") {
  RunOptions options = kOnce;
  options.iterations = 0;
  const auto refused =
      run_emulated(plan_of(1, Seconds{0.001}, {}), schedule_of("0F0,0B0\n"), options);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kUsage);
}

}  // namespace headrace::testing
