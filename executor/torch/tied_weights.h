// Layers that share a weight, when each stage has a copy of its own.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/schedule.h"
#include "core/units.h"
#include "executor/channel.h"
#include "executor/torch/stage_model.h"

namespace headrace {

/// One group of layers that share a weight, seen from one device.
struct TiedGroup {
  std::vector<int> devices;           ///< That hold a copy; ascending, without repetition.
  std::vector<torch::Tensor> copies;  ///< The ones of this device, in layer order.
};

/// The groups with more than one copy, in the same order on all ranks. `stages` are those of
/// `device`, with their numbers.
Result<std::vector<TiedGroup>> tied_groups(const RunModel& model, const Schedule& schedule,
                                           DeviceId device,
                                           const std::vector<std::pair<int, StageModel*>>& stages);

/// Replaces the gradient of every copy by the sum over all copies, so that equal copies stay equal:
/// once per iteration, before the optimizer. Every rank that holds a copy must call it.
Result<void> sum_tied_gradients(const std::vector<TiedGroup>& groups, Channel& channel,
                                Seconds timeout);

}  // namespace headrace
