// What the stages of a pipeline cost, for schedulers that look at costs.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace headrace {

/// Costs of one micro-batch by stage, S entries each.
struct ScheduleCosts {
  std::vector<Seconds> forward;
  std::vector<Seconds> input_grad;
  std::vector<Seconds> weight_grad;
  /// Of a message from stage s to s + 1 and of the gradient back, as in SimulationInput; ignored
  /// between stages on one device. Empty: 0.
  std::vector<Seconds> hop_forward = {};
  std::vector<Seconds> hop_backward = {};
  std::vector<double> activation = {};      ///< Held from F to W. Empty: 1 each.
  std::vector<double> freed_by_input = {};  ///< The part of it that I frees. Empty: 0.
  friend bool operator==(const ScheduleCosts&, const ScheduleCosts&) = default;
};

/// What has to be scheduled: every stage runs every micro-batch on its device, F, I and W.
struct PipelineTask {
  ScheduleCosts costs;  ///< All lists with S entries.
  std::vector<DeviceId> device_of_stage;
  int devices = 1;
  int microbatches = 1;
  std::vector<double> limit = {};  ///< Of activations held, per device; empty: none.
};

/// What is minimised.
enum class ScheduleObjective {
  kMakespan,  ///< Start of the first to end of the last action: an optimizer waits for all devices.
  kSpan,      ///< Longest over devices of first start to last end: devices wait for nobody.
};

/// F = I = W = 1 s, no hops, one unit of activation each, held until W.
ScheduleCosts equal_costs(int stages);

/// `costs` with its empty lists filled in: hops 0, and 0 within a device; activations 1.
PipelineTask pipeline_task(ScheduleCosts costs, std::vector<DeviceId> device_of_stage, int devices,
                           int microbatches);

}  // namespace headrace
