#include "executor/torch/stage_shapes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include <fmt/core.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "executor/collectives.h"

namespace headrace {
namespace {

/// Type, number of dimensions, sizes.
constexpr std::size_t kMostDimensions = 8;
using ShapeMessage = std::array<std::int64_t, kMostDimensions + 2>;

ShapeMessage encode(const TensorShape& shape) {
  ShapeMessage message{};
  message[0] = static_cast<std::int64_t>(shape.type);
  message[1] = static_cast<std::int64_t>(shape.sizes.size());
  std::copy(shape.sizes.begin(), shape.sizes.end(), message.begin() + 2);
  return message;
}

TensorShape decode(const ShapeMessage& message) {
  return {.sizes = {message.begin() + 2, message.begin() + 2 + message[1]},
          .type = static_cast<torch::ScalarType>(message[0])};
}

Result<void> send_shape(Channel& channel, int peer, const TensorShape& shape, Seconds timeout) {
  if (shape.sizes.size() > kMostDimensions) {
    return Failure({.code = ErrorCode::kInternal,
                    .what = "a stage's output has more than 8 dimensions",
                    .where = "shape exchange",
                    .fix = "cut the model elsewhere"});
  }
  const ShapeMessage message = encode(shape);
  return send_bytes(channel, {peer, kShapeTag}, std::as_bytes(std::span(message)), timeout);
}

Result<TensorShape> receive_shape(Channel& channel, int peer, Seconds timeout) {
  const auto bytes = receive_bytes(channel, {peer, kShapeTag}, timeout);
  if (!bytes) return Failure(bytes.error());
  ShapeMessage message{};
  if (bytes->size() == sizeof message) std::memcpy(message.data(), bytes->data(), sizeof message);
  if (message[1] < 1 || message[1] > static_cast<std::int64_t>(kMostDimensions)) {
    return Failure({.code = ErrorCode::kInternal,
                    .what = fmt::format("rank {} sent no shape", peer),
                    .where = "shape exchange",
                    .fix = "use the same headrace-torch and plan on all ranks"});
  }
  return decode(message);
}

}  // namespace

Result<std::map<int, StageShapes>> learn_shapes(
    const std::vector<std::pair<int, StageModel*>>& stages, const torch::Tensor& first_input,
    const Schedule& schedule, Channel& channel, Seconds timeout) {
  const torch::NoGradGuard no_graph;
  std::map<int, StageShapes> shapes;
  const auto device_of = [&](int stage) {
    return number_of(schedule.device_of_stage[static_cast<std::size_t>(stage)]);
  };
  for (const auto& [stage, model] : stages) {
    StageShapes& mine = shapes[stage];
    torch::Tensor x = first_input;
    if (stage > 0) {
      if (device_of(stage - 1) == channel.rank()) {
        mine.input = shapes.at(stage - 1).output;
      } else {
        auto input = receive_shape(channel, device_of(stage - 1), timeout);
        if (!input) return Failure(input.error());
        mine.input = *input;
      }
      x = torch::zeros(mine.input.sizes, mine.input.type);
    }
    const torch::Tensor y = model->forward(x);
    if (stage + 1 == schedule.stages) continue;
    mine.output = {.sizes = y.sizes().vec(), .type = y.scalar_type()};
    if (device_of(stage + 1) == channel.rank()) continue;
    auto ok = send_shape(channel, device_of(stage + 1), mine.output, timeout);
    if (!ok) return Failure(ok.error());
  }
  return shapes;
}

}  // namespace headrace
