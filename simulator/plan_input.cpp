// `simulation_input`: what a plan's stages, devices and links mean for the simulator.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "simulator/simulate.h"

namespace headrace {
namespace {

/// Position in the cluster of the device that runs a stage (its first replica).
Result<DeviceId> device_of(const Plan& plan, std::size_t stage) {
  const std::string where = fmt::format("/stages/{}/devices", stage);
  if (plan.stages[stage].devices.empty()) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = fmt::format("stage {} stands on no device", stage),
                    .where = where,
                    .fix = "name one device of the cluster"});
  }
  const std::string& id = plan.stages[stage].devices.front();
  const auto& devices = plan.inputs.cluster.devices;
  const auto found = std::ranges::find(devices, id, &Device::id);
  if (found != devices.end()) return DeviceId{static_cast<int>(found - devices.begin())};
  return Failure({.code = ErrorCode::kBadInput,
                  .what = fmt::format("stage {} stands on device '{}', which is not in the cluster",
                                      stage, id),
                  .where = where,
                  .fix = "name one device of the cluster"});
}

std::optional<Seconds> mean_of(const std::optional<Duration>& duration) {
  return duration ? std::optional(duration->mean) : std::nullopt;
}

Seconds spread_of(const std::optional<Duration>& duration) {
  return duration ? duration->stddev : Seconds{0};
}

StageCost cost_of(const PlanStage& stage, int virtual_stages) {
  MemoryItems fixed = stage.memory;
  fixed.activations = Bytes{0};
  return {.forward = stage.forward.mean,
          .backward = stage.backward.mean,
          .input_grad = mean_of(stage.input_grad),
          .weight_grad = mean_of(stage.weight_grad),
          .forward_spread = stage.forward.stddev,
          .backward_spread = stage.backward.stddev,
          .input_grad_spread = spread_of(stage.input_grad),
          .weight_grad_spread = spread_of(stage.weight_grad),
          .activation = 1.0 / virtual_stages,
          .saved_activation = stage.saved_activation,
          .output = stage.output,
          .fixed = fixed};
}

/// What a device may hold: the least of what the plan says for its stages and the cluster for it.
void fill_capacities(const Plan& plan, SimulationInput& input) {
  input.capacity.resize(input.place.size());
  const auto limit = [&](std::size_t d, const std::optional<Bytes>& bytes) {
    if (!bytes) return;
    input.capacity[d] = std::min(input.capacity[d].value_or(*bytes), *bytes);
  };
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    limit(index_of(input.schedule.device_of_stage[s]), plan.stages[s].capacity);
  }
  for (std::size_t d = 0; d < input.place.size(); ++d) {
    limit(d, plan.inputs.cluster.devices[index_of(input.place[d])].memory);
  }
}

}  // namespace

Result<SimulationInput> simulation_input(const Plan& plan, Schedule schedule) {
  const auto stages = static_cast<int>(plan.stages.size());
  if (schedule.stages != stages * schedule.pipelines) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = fmt::format("the schedule has {} stages, the plan {}",
                                        schedule.stages / schedule.pipelines, stages),
                    .where = "schedule",
                    .fix = "use a schedule of the plan's stages, or plan anew"});
  }
  SimulationInput input{.schedule = std::move(schedule), .optimizer = plan.optimizer_step.mean};
  if (plan.micro_batch_size > 0) {
    input.global_batch = input.schedule.microbatches * plan.micro_batch_size * plan.parallel.data;
  }
  // Where the schedule's devices stand in the cluster: the plan says it for the first replica.
  std::vector<DeviceId> place(input.schedule.rows.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto device = device_of(plan, s);
    if (!device) return Failure(device.error());
    place[index_of(input.schedule.device_of_stage[s])] = *device;
  }
  input.place = place;
  fill_capacities(plan, input);
  const auto all = static_cast<std::size_t>(input.schedule.stages);
  for (std::size_t s = 0; s < all; ++s) {
    input.stages.push_back(
        cost_of(plan.stages[s % plan.stages.size()], std::max(1, plan.parallel.virtual_stages)));
  }
  input.hop_forward.assign(all, Seconds{0});
  input.hop_backward.assign(all, Seconds{0});
  for (std::size_t s = 0; s + 1 < all; ++s) {
    if (is_last_stage(input.schedule, static_cast<int>(s))) continue;
    const Cluster& cluster = plan.inputs.cluster;
    const DeviceId from = place[index_of(input.schedule.device_of_stage[s])];
    const DeviceId to = place[index_of(input.schedule.device_of_stage[s + 1])];
    input.hop_forward[s] = transfer_time(cluster.link_between(from, to), input.stages[s].output);
    input.hop_backward[s] = transfer_time(cluster.link_between(to, from), input.stages[s].output);
  }
  return input;
}

}  // namespace headrace
