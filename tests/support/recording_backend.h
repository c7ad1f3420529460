// A stage backend that computes a checksum instead of a model, and remembers what it was asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule.h"
#include "executor/stage_backend.h"

namespace headrace::testing {

/// What a stage makes of a number: any input or order that is wrong changes the result.
inline std::uint64_t mixed(std::uint64_t value, int stage, int kind) {
  value ^= static_cast<std::uint64_t>(stage * 4 + kind + 1) * 0x9E3779B97F4A7C15U;
  value *= 0xBF58476D1CE4E5B9U;
  return value ^ (value >> 29);
}

/// Called before every action; an error makes the action fail.
using BeforeAction = std::function<Result<void>(const Action&)>;

class RecordingBackend final : public StageBackend {
 public:
  explicit RecordingBackend(const Schedule& schedule, BeforeAction before = {})
      : schedule_(schedule), before_(std::move(before)) {}

  Result<std::optional<HeldMemory>> compute(const Action& action) override {
    if (before_) {
      if (auto ok = before_(action); !ok) return Failure(ok.error());
    }
    actions.push_back(action);
    Boundary& now = at(action);
    const int stage = number_of(action.stage);
    const auto m = static_cast<std::uint64_t>(number_of(action.microbatch));
    if (action.kind == ActionKind::kForward) {
      now.output[0] = mixed(stage == 0 ? m : now.input[0], stage, 0);
    } else if (action.kind != ActionKind::kWeightGrad) {
      const bool last = stage + 1 == schedule_.stages;
      now.input_gradient[0] = mixed(last ? now.output[0] : now.output_gradient[0], stage, 1);
    }
    return std::optional(HeldMemory{.peak = Bytes{200}, .after = Bytes{100}});
  }

  Result<std::span<std::byte>> buffer(const Action& transfer) override {
    return std::as_writable_bytes(std::span(tensor_of(transfer)));
  }

  Result<void> hand_over(const Action& send) override {
    const bool forward = send.kind == ActionKind::kSendForward;
    Action neighbour = send;
    neighbour.stage = StageId{number_of(send.stage) + (forward ? 1 : -1)};
    (forward ? at(neighbour).input : at(neighbour).output_gradient) = tensor_of(send);
    return {};
  }

  void release(const Action& send) override { released.push_back(send); }
  Result<void> finish_iteration() override {
    ++iterations;
    return {};
  }

  /// The gradient of the model's input for one micro-batch, had all gone through one device.
  static std::uint64_t expected(int stages, int microbatch) {
    auto value = static_cast<std::uint64_t>(microbatch);
    for (int s = 0; s < stages; ++s) value = mixed(value, s, 0);
    for (int s = stages; s-- > 0;) value = mixed(value, s, 1);
    return value;
  }
  std::uint64_t input_gradient(int microbatch) {
    return boundaries_[{0, microbatch}].input_gradient[0];
  }

  std::vector<Action> actions;
  std::vector<Action> released;
  int iterations = 0;

 private:
  using Tensor = std::array<std::uint64_t, 1>;
  struct Boundary {
    Tensor input{};
    Tensor output{};
    Tensor output_gradient{};
    Tensor input_gradient{};
  };

  Boundary& at(const Action& action) {
    return boundaries_[{number_of(action.stage), number_of(action.microbatch)}];
  }
  Tensor& tensor_of(const Action& transfer) {
    Boundary& now = at(transfer);
    switch (transfer.kind) {
      case ActionKind::kRecvForward:
        return now.input;
      case ActionKind::kSendForward:
        return now.output;
      case ActionKind::kRecvBackward:
        return now.output_gradient;
      default:
        return now.input_gradient;
    }
  }

  const Schedule& schedule_;
  BeforeAction before_;
  std::map<std::pair<int, int>, Boundary> boundaries_;
};

}  // namespace headrace::testing
