#include "simulator/schedule_costs.h"

#include <utility>

namespace headrace {

ScheduleCosts equal_costs(int stages) {
  const std::vector<Seconds> one(static_cast<std::size_t>(stages), Seconds{1});
  return {.forward = one, .input_grad = one, .weight_grad = one};
}

PipelineTask pipeline_task(ScheduleCosts costs, std::vector<DeviceId> device_of_stage, int devices,
                           int microbatches) {
  const std::size_t stages = device_of_stage.size();
  if (costs.hop_forward.empty()) costs.hop_forward.resize(stages);
  if (costs.hop_backward.empty()) costs.hop_backward.resize(stages);
  if (costs.activation.empty()) costs.activation.assign(stages, 1);
  if (costs.freed_by_input.empty()) costs.freed_by_input.resize(stages);
  for (std::size_t s = 0; s < stages; ++s) {
    if (s + 1 < stages && device_of_stage[s] != device_of_stage[s + 1]) continue;
    costs.hop_forward[s] = Seconds{0};
    costs.hop_backward[s] = Seconds{0};
  }
  return {.costs = std::move(costs),
          .device_of_stage = std::move(device_of_stage),
          .devices = devices,
          .microbatches = microbatches};
}

}  // namespace headrace
