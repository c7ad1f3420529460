#include "simulator/memory_curve.h"

#include <algorithm>

namespace headrace {
namespace {

/// Parameters, gradients, optimizer state and buffers of all stages of a device add up; only one
/// layer runs at a time, so workspace and the runtime's reserve are the largest of them.
std::vector<MemoryItems> fixed_items(const SimulationInput& input) {
  std::vector<MemoryItems> items(static_cast<std::size_t>(input.schedule.devices));
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    const MemoryItems& stage = input.stages[s].fixed;
    MemoryItems& device = items[index_of(input.schedule.device_of_stage[s])];
    device.parameters += stage.parameters;
    device.gradients += stage.gradients;
    device.optimizer += stage.optimizer;
    device.communication += stage.communication;
    device.workspace = std::max(device.workspace, stage.workspace);
    device.margin = std::max(device.margin, stage.margin);
  }
  return items;
}

/// What one device holds at the moment.
struct Held {
  double activations = 0;
  Bytes bytes{0};
};

}  // namespace

MemoryUse memory_use(const Timeline& timeline, const SimulationInput& input) {
  MemoryUse use{.peak_activations = std::vector<double>(static_cast<std::size_t>(timeline.devices)),
                .peak_items = fixed_items(input)};
  std::vector<Bytes> fixed;
  for (const MemoryItems& items : use.peak_items) fixed.push_back(items.total());
  std::vector<Held> held(fixed.size());
  for (const TimelineEvent& event : timeline.events) {
    const ActionKind kind = event.action.kind;
    const bool begins = kind == ActionKind::kForward;
    const bool ends = kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad;
    if (!begins && !ends) continue;
    const std::size_t device = index_of(event.device);
    const StageCost& cost = input.stages[index_of(event.action.stage)];
    Held& now = held[device];
    const double sign = begins ? 1 : -1;
    now.activations += sign * cost.activation;
    now.bytes = begins ? now.bytes + cost.saved_activation : now.bytes - cost.saved_activation;
    use.curve.push_back({.device = event.device,
                         .time = begins ? event.start : event.end,
                         .bytes = fixed[device] + now.bytes});
    use.peak_activations[device] = std::max(use.peak_activations[device], now.activations);
    MemoryItems& peak = use.peak_items[device];
    peak.activations = std::max(peak.activations, now.bytes);
  }
  return use;
}

}  // namespace headrace
