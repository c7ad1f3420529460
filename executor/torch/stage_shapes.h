// What the tensors between the stages look like, learned by running the model once.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/schedule.h"
#include "core/units.h"
#include "executor/channel.h"
#include "executor/torch/stage_model.h"

namespace headrace {

/// Shape and type of one tensor.
struct TensorShape {
  std::vector<std::int64_t> sizes;
  torch::ScalarType type = torch::kFloat;
};

/// Of every stage on this device; empty for the model's own input and the last stage's output.
struct StageShapes {
  TensorShape input;
  TensorShape output;
};

/// Runs every stage forward once, in the order data flows; each tells the next one's device what it
/// makes. Both ends of every message therefore agree on its size before the first is sent: Gloo
/// ends the process where they do not. `first_input` is a micro-batch's input, used on the device
/// of stage 0. All ranks must call it; `stages` are this device's in ascending order.
Result<std::map<int, StageShapes>> learn_shapes(
    const std::vector<std::pair<int, StageModel*>>& stages, const torch::Tensor& first_input,
    const Schedule& schedule, Channel& channel, Seconds timeout);

}  // namespace headrace
