#include "tools/headrace/plan_grid.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "planner/grid_search.h"
#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"
#include "tools/headrace/planned_schedule.h"

namespace headrace::cli {
namespace {

Passes passes_of(const Schedule& schedule) {
  if (splits_backward(schedule)) return Passes::kSplitBackward;
  return trains(schedule) ? Passes::kWholeBackward : Passes::kForwardOnly;
}

bool knows_split_backward(const Profile& profile) {
  return std::ranges::all_of(profile.graph.layers(), [](const Layer& layer) {
    return layer.input_grad && layer.weight_grad;
  });
}

/// A small instance of a schedule, to see what kind it is; absent where none is defined.
std::optional<Schedule> specimen(const ScheduleRequest& named) {
  ScheduleRequest request = named;
  request.devices = 2;
  request.stages = 2 * default_virtual_stages(named.name);
  request.microbatches = 4;
  auto schedule = make_schedule(request);
  return schedule ? std::optional(*std::move(schedule)) : std::nullopt;
}

bool can_be_planned(const Schedule& schedule) {
  return schedule.pipelines == 1 && schedule.pieces == 1 && schedule.flushes && trains(schedule);
}

/// Numbers of stages per device worth trying.
std::vector<int> stages_per_device(const std::string& name, const std::optional<int>& given) {
  const int usual = default_virtual_stages(name);
  if (given) return (*given == 1) == (usual == 1) ? std::vector{*given} : std::vector<int>{};
  if (usual == 1) return {1};
  const bool looped = name.find("interleaved") != std::string::npos || name == "looped-bfs";
  return looped ? std::vector{2, 3, 4} : std::vector{usual};
}

Result<std::vector<GridSchedule>> schedules_of(const GridWish& wish, const Profile& profile) {
  std::vector<GridSchedule> list;
  const auto names = wish.schedules.empty() ? plannable_schedules(profile) : wish.schedules;
  for (const std::string& text : names) {
    const auto named = schedule_request_from_text(text);
    if (!named) return Failure(named.error());
    const auto small = specimen(*named);
    if (small && !can_be_planned(*small)) {
      return Failure(
          {.code = ErrorCode::kUsage,
           .what = fmt::format("no plan is made for '{}': it has two replicas, pieces of "
                               "sequences, no backward or no flush",
                               named->name),
           .where = "--schedule",
           .fix = "leave it out, or simulate a plan with it"});
    }
    auto counts = stages_per_device(named->name, wish.per_device);
    if (!counts.empty()) list.push_back({.name = text, .virtual_stages = std::move(counts)});
  }
  if (!list.empty()) return list;
  return Failure(
      {.code = ErrorCode::kUsage,
       .what = fmt::format("no schedule has {} stages per device", wish.per_device.value_or(1)),
       .where = "--virtual",
       .fix = "drop --virtual, or use another --schedule"});
}

Result<PreparedPoint> prepare(const GridWish& wish, const std::vector<Profile>& profiles,
                              const GridPoint& point) {
  const int stages = point.pipeline * point.virtual_stages;
  auto made = generated_schedule(point.schedule, {.stages = stages, .devices = point.pipeline},
                                 point.microbatches);
  if (!made) return Failure(made.error());
  const auto schedule = std::make_shared<const Schedule>(*std::move(made));
  PreparedPoint prepared{.request =
                             request_for(*schedule, profiles[point.profile].micro_batch_size)};
  const auto named = schedule_request_from_text(point.schedule);
  prepared.request.schedule = named->name;
  prepared.request.schedule_parameters = named->parameters;
  prepared.request.memory_margin = wish.memory_margin;
  prepared.scorer = [schedule](const Plan& plan) -> Result<Seconds> {
    const auto input = simulation_input(plan, *schedule);
    if (!input) return Failure(input.error());
    return simulated_iteration(*input);
  };
  prepared.peak_memory = [schedule](const Plan& plan) -> Result<Bytes> {
    const auto input = simulation_input(plan, *schedule);
    if (!input) return Failure(input.error());
    const auto outcome = simulate(*input);
    if (!outcome) return Failure(outcome.error());
    Bytes peak{0};
    for (const DeviceReport& device : outcome->report.per_device) {
      peak = std::max(peak, device.peak_memory);
    }
    return peak;
  };
  return prepared;
}

}  // namespace

PlanRequest request_for(const Schedule& schedule, int microbatch_size) {
  PlanRequest request{.stages = schedule.stages,
                      .microbatches = schedule.microbatches,
                      .global_batch = schedule.microbatches * microbatch_size,
                      .schedule = schedule.name,
                      .in_flight = peak_in_flight(schedule),
                      .passes = passes_of(schedule)};
  if (schedule.devices < schedule.stages) {
    request.device_of_stage = schedule.device_of_stage;
    request.held_together = largest_holdings(schedule);
  }
  return request;
}

std::vector<std::string> plannable_schedules(const Profile& profile) {
  // 1F1B first: where the order of actions makes no difference it is the name to show.
  std::vector<std::string> names = {"1f1b"};
  for (const std::string_view name : schedule_names()) {
    if (name == names.front() || looks_at_costs(name)) continue;
    const auto small = specimen({.name = std::string(name)});
    if (!small || !can_be_planned(*small)) continue;
    if (splits_backward(*small) && !knows_split_backward(profile)) continue;
    names.emplace_back(name);
  }
  return names;
}

Result<Plan> plan_over_grid(const GridWish& wish, const std::vector<Profile>& profiles,
                            const Cluster& cluster) {
  auto schedules = schedules_of(wish, profiles.front());
  if (!schedules) return Failure(schedules.error());
  return best_of_grid(
      {.profiles = profiles,
       .cluster = cluster,
       .global_batch = wish.global_batch,
       .schedules = *std::move(schedules),
       .stages = wish.stages,
       .data = wish.data,
       .objective = wish.objective,
       .prepare = [&](const GridPoint& point) { return prepare(wish, profiles, point); }});
}

}  // namespace headrace::cli
