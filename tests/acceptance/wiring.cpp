#include "tests/acceptance/wiring.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "simulator/schedule_catalogue.h"

namespace headrace::testing {

Schedule schedule_of(const Wish& wish) {
  auto schedule = make_schedule({.name = wish.schedule,
                                 .devices = wish.devices == 0 ? wish.stages : wish.devices,
                                 .stages = wish.stages,
                                 .microbatches = wish.microbatches});
  HEADRACE_CHECK(schedule.has_value(), "test schedules exist");
  return *schedule;
}

PlanRequest request_of(const Wish& wish) {
  PlanRequest request{.stages = wish.stages,
                      .microbatches = wish.microbatches,
                      .schedule = wish.schedule,
                      .objective = wish.objective};
  if (wish.stages < 1 || wish.microbatches < 1) return request;
  const Schedule schedule = schedule_of(wish);
  request.in_flight = peak_in_flight(schedule);
  if (wish.devices != 0) {
    request.device_of_stage = schedule.device_of_stage;
    request.held_together = largest_holdings(schedule);
  }
  request.passes = splits_backward(schedule) ? Passes::kSplitBackward : Passes::kWholeBackward;
  return request;
}

PlanScorer simulated_scorer(const Wish& wish) {
  return [schedule = schedule_of(wish)](const Plan& plan) -> Result<Seconds> {
    const auto input = simulation_input(plan, schedule);
    if (!input) return Failure(input.error());
    return simulated_iteration(*input);
  };
}

Result<Plan> plan_for(const Profile& profile, const Cluster& cluster, const Wish& wish) {
  return make_plan(profile, cluster, request_of(wish), simulated_scorer(wish));
}

Simulation simulated(const Plan& plan, const std::string& schedule) {
  const Wish wish{.stages = static_cast<int>(plan.stages.size()),
                  .microbatches = plan.microbatches,
                  .schedule = schedule};
  const auto input = simulation_input(plan, schedule_of(wish));
  HEADRACE_CHECK(input.has_value(), "test plans can be simulated");
  const auto outcome = simulate(*input);
  HEADRACE_CHECK(outcome.has_value(), "test plans can be simulated");
  return outcome->report;
}

std::vector<int> sizes_of(const Plan& plan) {
  std::vector<int> sizes;
  for (const PlanStage& stage : plan.stages) sizes.push_back(static_cast<int>(stage.layers.size()));
  return sizes;
}

Bytes gigabytes(double count) {
  return Bytes(std::llround(count * 1e9));
}

Cluster devices_with(int count, double memory) {
  return uniform_cluster(count, gigabytes(memory), {});
}

Cluster devices_without_limit(int count) {
  return uniform_cluster(count, std::nullopt, {});
}

bool says(const Plan& plan, const std::string& words) {
  return std::ranges::any_of(plan.notes, [&words](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

}  // namespace headrace::testing
