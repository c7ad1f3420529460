// Schedules that are searched for the costs at hand: zb-auto on a loop of one stage per device,
// v-auto, V-Half and V-Min on a V of two.
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "simulator/schedules/automatic_search.h"
#include "simulator/schedules/generators.h"

namespace headrace {
namespace {

Failure usage(const ScheduleRequest& request, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("{}: {}", request.name, what),
                  .where = "--schedule",
                  .fix = std::move(fix)});
}

/// A positive number, or nothing.
std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0)) return std::nullopt;
  return value;
}

/// "limit=2p", "limit=12": micro-batches that a device may hold.
Result<double> limit_of(const ScheduleRequest& request, double fallback) {
  const auto given = request.parameters.find("limit");
  if (given == request.parameters.end()) return fallback;
  std::string_view text = given->second;
  const bool per_device = text.ends_with('p');
  if (per_device) text.remove_suffix(1);
  const auto number = number_from(text);
  if (number && *number < 1e9) return *number * (per_device ? request.devices : 1);
  return usage(request, fmt::format("limit '{}' is no number of micro-batches", given->second),
               fmt::format("write {}:limit=2p, or a number", request.name));
}

Result<ScheduleObjective> objective_of(const ScheduleRequest& request) {
  const auto given = request.parameters.find("objective");
  if (given == request.parameters.end() || given->second == "makespan") {
    return ScheduleObjective::kMakespan;
  }
  if (given->second == "span") return ScheduleObjective::kSpan;
  return usage(request, fmt::format("unknown objective '{}'", given->second),
               "use objective=makespan, or objective=span where no barrier waits for all devices");
}

Result<double> effort_of(const ScheduleRequest& request) {
  const auto given = request.parameters.find("effort");
  if (given == request.parameters.end()) return 1;
  const auto number = number_from(given->second);
  if (number && *number <= 1000) return *number;
  return usage(request, fmt::format("effort '{}' is no number up to 1000", given->second),
               "write effort=4 to try four times as much");
}

/// Searches orders for `schedule`, of whose stages `per_microbatch` on a device make one
/// micro-batch there.
Result<Schedule> searched(Schedule schedule, const ScheduleRequest& request, double limit,
                          int per_microbatch) {
  const auto objective = objective_of(request);
  if (!objective) return Failure(objective.error());
  const auto effort = effort_of(request);
  if (!effort) return Failure(effort.error());
  PipelineTask task =
      pipeline_task(request.costs.value_or(equal_costs(request.stages)), schedule.device_of_stage,
                    request.devices, request.microbatches);
  task.limit.assign(schedule.rows.size(), limit * per_microbatch);
  auto orders = search_orders(task, {.objective = *objective, .effort = *effort});
  if (!orders) {
    return Failure({.code = ErrorCode::kInfeasible,
                    .what = fmt::format("{}: a limit of {} micro-batches holds not even one",
                                        request.name, limit),
                    .where = "--schedule",
                    .fix = fmt::format("use {}:limit=1", request.name)});
  }
  schedule.rows = *std::move(orders);
  return schedule;
}

Result<Schedule> searched_fold(const ScheduleRequest& request, double limit) {
  if (auto ok = require_stages_per_device(request, 2); !ok) return Failure(ok.error());
  return searched(empty_v_schedule(request), request, limit, 2);
}

}  // namespace

Result<Schedule> zero_bubble_automatic_schedule(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return Failure(ok.error());
  const auto limit = limit_of(request, request.devices);
  if (!limit) return Failure(limit.error());
  return searched(empty_loop_schedule(request), request, *limit, 1);
}

Result<Schedule> folded_automatic_schedule(const ScheduleRequest& request) {
  const auto limit = limit_of(request, request.devices);
  if (!limit) return Failure(limit.error());
  return searched_fold(request, *limit);
}

Result<Schedule> folded_half_schedule(const ScheduleRequest& request) {
  return searched_fold(request, (request.devices + 2) / 2);
}

Result<Schedule> folded_least_schedule(const ScheduleRequest& request) {
  return searched_fold(request, (request.devices + 4) / 3);
}

}  // namespace headrace
