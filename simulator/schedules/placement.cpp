// What generators share: where stages stand and which counts a schedule accepts.
#include <charconv>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"

namespace headrace {
namespace {

Schedule without_rows(const ScheduleRequest& request) {
  Schedule schedule{
      .stages = request.stages, .devices = request.devices, .microbatches = request.microbatches};
  schedule.rows.resize(static_cast<std::size_t>(request.devices));
  // Room for F, I and W of every micro-batch; what is not used is never touched.
  const std::size_t per_device = 3 *
                                 static_cast<std::size_t>(request.stages / request.devices + 1) *
                                 static_cast<std::size_t>(request.microbatches);
  for (auto& row : schedule.rows) row.reserve(per_device);
  return schedule;
}

}  // namespace

Schedule empty_loop_schedule(const ScheduleRequest& request) {
  Schedule schedule = without_rows(request);
  for (int s = 0; s < request.stages; ++s) {
    schedule.device_of_stage.push_back(DeviceId{s % request.devices});
  }
  return schedule;
}

Schedule empty_wave_schedule(const ScheduleRequest& request) {
  Schedule schedule = without_rows(request);
  for (int s = 0; s < request.stages; ++s) {
    const int along = s % request.devices;
    const bool back = s / request.devices % 2 == 1;
    schedule.device_of_stage.push_back(DeviceId{back ? request.devices - 1 - along : along});
  }
  return schedule;
}

Schedule empty_v_schedule(const ScheduleRequest& request) {
  return empty_wave_schedule(request);
}

Schedule empty_two_way_schedule(const ScheduleRequest& request) {
  Schedule schedule = without_rows(request);
  schedule.stages = 2 * request.stages;
  schedule.pipelines = 2;
  for (int s = 0; s < request.devices; ++s) schedule.device_of_stage.push_back(DeviceId{s});
  for (int s = request.devices; s-- > 0;) schedule.device_of_stage.push_back(DeviceId{s});
  return schedule;
}

void number_second_pipeline(Schedule& schedule) {
  const int half = schedule.stages / 2;
  const int first = microbatches_of(schedule, half).first;
  for (auto& row : schedule.rows) {
    for (Action& action : row) {
      if (number_of(action.stage) < half) continue;
      action.microbatch = MicrobatchId{number_of(action.microbatch) + first};
    }
  }
}

Result<void> require_even_devices(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return ok;
  if (request.devices % 2 == 0) return {};
  return Failure({.code = ErrorCode::kInfeasible,
                  .what = fmt::format("{} needs an even number of devices, has {}", request.name,
                                      request.devices),
                  .where = "--stages",
                  .fix = fmt::format("use --stages {}", request.devices + 1)});
}

Result<void> require_stages_per_device(const ScheduleRequest& request, int per_device) {
  if (request.stages == per_device * request.devices) return {};
  return Failure(
      {.code = ErrorCode::kInfeasible,
       .what = fmt::format("{} runs {} per device, asked for {} stages on {} devices", request.name,
                           per_device == 1 ? "one stage" : fmt::format("{} stages", per_device),
                           request.stages, request.devices),
       .where = "--schedule",
       .fix = fmt::format("use --stages {}", per_device * request.devices)});
}

Result<int> even_stages_per_device(const ScheduleRequest& request) {
  if (request.stages % request.devices == 0) return request.stages / request.devices;
  return Failure({.code = ErrorCode::kInfeasible,
                  .what = fmt::format("{} stages do not spread evenly over {} devices",
                                      request.stages, request.devices),
                  .where = "--stages",
                  .fix = fmt::format("use --stages {}",
                                     (request.stages / request.devices + 1) * request.devices)});
}

Result<void> multiply_microbatches(ScheduleRequest& request, int pieces) {
  const std::int64_t total = static_cast<std::int64_t>(request.microbatches) * pieces;
  constexpr std::int64_t kMost = 50'000'000;
  if (total * request.stages <= kMost) {
    request.microbatches = static_cast<int>(total);
    return {};
  }
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("{} micro-batches in {} pieces on {} stages are more than {}",
                                      request.microbatches, pieces, request.stages, kMost),
                  .where = "--schedule",
                  .fix = "use fewer pieces"});
}

Result<int> positive_parameter(const ScheduleRequest& request, const std::string& name,
                               int fallback) {
  const auto given = request.parameters.find(name);
  if (given == request.parameters.end()) return fallback;
  const std::string& text = given->second;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 1) return value;
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("{} is '{}', which is no positive whole number", name, text),
                  .where = "--schedule",
                  .fix = fmt::format("write --schedule {}:{}={}", request.name, name, fallback)});
}

}  // namespace headrace
