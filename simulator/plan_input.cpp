// `simulation_input`: what a plan's stages, devices and links mean for the simulator.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "simulator/simulate.h"

namespace headrace {
namespace {

/// Where the devices of stages stand in the cluster, by id: clusters may have thousands.
class DeviceIndex {
 public:
  explicit DeviceIndex(const Plan& plan) : plan_(plan) {
    const auto& devices = plan.inputs.cluster.devices;
    position_.reserve(devices.size());
    for (std::size_t d = 0; d < devices.size(); ++d) {
      position_.emplace(devices[d].id, static_cast<int>(d));
    }
  }

  /// Positions of the devices that run a stage, one per replica.
  [[nodiscard]] Result<std::vector<DeviceId>> of(std::size_t stage) const {
    const std::string where = fmt::format("/stages/{}/devices", stage);
    if (plan_.stages[stage].devices.empty()) {
      return Failure({.code = ErrorCode::kBadInput,
                      .what = fmt::format("stage {} stands on no device", stage),
                      .where = where,
                      .fix = "name one device of the cluster"});
    }
    std::vector<DeviceId> places;
    for (const std::string& id : plan_.stages[stage].devices) {
      const auto found = position_.find(id);
      if (found == position_.end()) {
        return Failure(
            {.code = ErrorCode::kBadInput,
             .what = fmt::format("stage {} stands on device '{}', which is not in the cluster",
                                 stage, id),
             .where = where,
             .fix = "name one device of the cluster"});
      }
      places.push_back(DeviceId{found->second});
    }
    return places;
  }

 private:
  const Plan& plan_;
  std::unordered_map<std::string_view, int> position_;
};

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

/// A ring all-reduce over devices of the cluster, at the pace of its slowest link:
/// 2 (n - 1) steps of bytes / n each.
Seconds all_reduce_time(const Cluster& cluster, const std::vector<DeviceId>& devices, Bytes size) {
  const auto count = static_cast<double>(devices.size());
  Seconds slowest{0};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceId from = devices[i];
    const DeviceId to = devices[(i + 1) % devices.size()];
    const LinkSpeed link = cluster.link_between(from, to);
    Seconds step = link.latency;
    if (link.bandwidth > BytesPerSecond{0}) step += size / link.bandwidth * (1 / count);
    slowest = std::max(slowest, step);
  }
  return slowest * (2 * (count - 1));
}

/// Gradient reductions: over the data replicas of a stage, between stages that share weights, and
/// between the replicas of a two-way schedule.
Result<void> fill_reductions(const Plan& plan, const DeviceIndex& index, SimulationInput& input) {
  const Cluster& cluster = plan.inputs.cluster;
  const auto stages = static_cast<int>(plan.stages.size());
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s % plan.stages.size()];
    if (stage.devices.size() < 2) continue;
    const auto replicas = index.of(s % plan.stages.size());
    if (!replicas) return Failure(replicas.error());
    input.stages[s].reduce_gradient = all_reduce_time(cluster, *replicas, stage.memory.gradients);
  }
  const auto add = [&](const std::vector<int>& tied, Bytes gradient) {
    std::vector<DeviceId> devices;
    for (const int s : tied) {
      const DeviceId device =
          input.place[index_of(input.schedule.device_of_stage[static_cast<std::size_t>(s)])];
      if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
    }
    if (devices.size() < 2) return;
    input.tied.push_back({.stages = tied, .time = all_reduce_time(cluster, devices, gradient)});
  };
  for (const TiedWeights& tied : plan.tied) add(tied.stages, tied.gradient);
  for (int s = 0; s < stages && input.schedule.pipelines > 1; ++s) {
    add({s, s + stages}, plan.stages[static_cast<std::size_t>(s)].memory.gradients);
  }
  return {};
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

ScheduleCosts schedule_costs(const SimulationInput& input) {
  ScheduleCosts costs{.hop_forward = input.hop_forward, .hop_backward = input.hop_backward};
  for (const StageCost& stage : input.stages) {
    const bool split = stage.input_grad && stage.weight_grad;
    costs.forward.push_back(stage.forward);
    costs.input_grad.push_back(split ? *stage.input_grad : stage.backward);
    costs.weight_grad.push_back(split ? *stage.weight_grad : Seconds{0});
  }
  return costs;
}

void divide_into_pieces(SimulationInput& input) {
  const int pieces = input.schedule.pieces;
  if (pieces == 1) return;
  const auto divide = [&](auto& value) { value = value / pieces; };
  for (StageCost& stage : input.stages) {
    for (Seconds* time :
         {&stage.forward, &stage.backward, &stage.forward_spread, &stage.backward_spread,
          &stage.input_grad_spread, &stage.weight_grad_spread, &stage.recompute}) {
      divide(*time);
    }
    if (stage.input_grad) divide(*stage.input_grad);
    if (stage.weight_grad) divide(*stage.weight_grad);
    for (Bytes* size :
         {&stage.saved_activation, &stage.kept_input, &stage.stashed_gradient, &stage.output}) {
      divide(*size);
    }
    divide(stage.activation);
  }
}

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
    input.global_batch = input.schedule.microbatches / input.schedule.pieces *
                         plan.micro_batch_size * plan.parallel.data;
  }
  const DeviceIndex index(plan);
  // Where the schedule's devices stand in the cluster: the plan says it for the first replica.
  std::vector<DeviceId> place(input.schedule.rows.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto devices = index.of(s);
    if (!devices) return Failure(devices.error());
    place[index_of(input.schedule.device_of_stage[s])] = devices->front();
  }
  input.place = place;
  fill_capacities(plan, input);
  const auto all = static_cast<std::size_t>(input.schedule.stages);
  for (std::size_t s = 0; s < all; ++s) {
    input.stages.push_back(
        cost_of(plan.stages[s % plan.stages.size()], std::max(1, plan.parallel.virtual_stages)));
  }
  divide_into_pieces(input);
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
  if (auto ok = fill_reductions(plan, index, input); !ok) return Failure(ok.error());
  return input;
}

}  // namespace headrace
