#include "executor/device_steps.h"

#include <set>

#include <fmt/core.h>

#include "core/check.h"

namespace headrace {
namespace {

Action transfer(ActionKind kind, int stage, MicrobatchId microbatch) {
  return {.kind = kind, .stage = StageId{stage}, .microbatch = microbatch};
}

/// Builds the steps of one row and remembers what was handed over within the device.
class StepBuilder {
 public:
  StepBuilder(const Schedule& schedule, DeviceId device) : schedule_(schedule), device_(device) {}

  Result<DeviceStep> step(const Action& action) {
    const int stage = number_of(action.stage);
    DeviceStep step{.action = action};
    switch (action.kind) {
      case ActionKind::kForward:
        if (!is_first_stage(schedule_, stage)) {
          step.receive = transfer(ActionKind::kRecvForward, stage, action.microbatch);
        }
        if (!is_last_stage(schedule_, stage)) {
          step.send = transfer(ActionKind::kSendForward, stage, action.microbatch);
        }
        break;
      case ActionKind::kBackward:
      case ActionKind::kInputGrad:
        if (!is_last_stage(schedule_, stage)) {
          step.receive = transfer(ActionKind::kRecvBackward, stage, action.microbatch);
        }
        if (!is_first_stage(schedule_, stage)) {
          step.send = transfer(ActionKind::kSendBackward, stage, action.microbatch);
        }
        break;
      default:
        break;
    }
    if (auto ok = keep_inside(step); !ok) return Failure(ok.error());
    return step;
  }

 private:
  [[nodiscard]] bool is_here(StageId stage) const {
    return schedule_.device_of_stage[index_of(stage)] == device_;
  }

  /// Turns messages between two stages of this device into hand-overs.
  Result<void> keep_inside(DeviceStep& step) {
    if (step.receive && is_here(other_end(*step.receive))) {
      if (!handed_over_.contains(message_tag(*step.receive, schedule_.microbatches))) {
        return waits_for_itself(step);
      }
      step.receive.reset();
    }
    if (step.send && is_here(other_end(*step.send))) {
      handed_over_.insert(message_tag(received_as(*step.send), schedule_.microbatches));
      step.hand_over = step.send;
      step.send.reset();
    }
    return {};
  }

  [[nodiscard]] Failure waits_for_itself(const DeviceStep& step) const {
    const bool forward = step.action.kind == ActionKind::kForward;
    const std::string needed = fmt::format("{}{}{}", number_of(other_end(*step.receive)),
                                           forward ? "F" : "B", number_of(step.action.microbatch));
    return Failure(
        {.code = ErrorCode::kDeadlock,
         .what = fmt::format("{} stands before {}, which it needs", to_string(step.action), needed),
         .where = fmt::format("rank {}", number_of(device_)),
         .fix = "put the two actions in order",
         .cycle = {{.device = number_of(device_),
                    .action = to_string(step.action),
                    .waits_for = needed}}});
  }

  const Schedule& schedule_;
  DeviceId device_;
  std::set<int> handed_over_;  ///< Tags of what stages of this device gave each other so far.
};

}  // namespace

Result<std::vector<DeviceStep>> device_steps(const Schedule& schedule, DeviceId device) {
  StepBuilder builder(schedule, device);
  std::vector<DeviceStep> steps;
  for (const Action& action : schedule.rows[index_of(device)]) {
    if (!is_compute(action.kind)) continue;
    auto step = builder.step(action);
    if (!step) return Failure(step.error());
    steps.push_back(*step);
  }
  return steps;
}

StageId other_end(const Action& transfer) {
  const bool next =
      transfer.kind == ActionKind::kSendForward || transfer.kind == ActionKind::kRecvBackward;
  return StageId{number_of(transfer.stage) + (next ? 1 : -1)};
}

Action received_as(const Action& send) {
  return {.kind = send.kind == ActionKind::kSendForward ? ActionKind::kRecvForward
                                                        : ActionKind::kRecvBackward,
          .stage = other_end(send),
          .microbatch = send.microbatch};
}

int message_tag(const Action& receive, int microbatches) {
  const int backward = receive.kind == ActionKind::kRecvBackward ? 1 : 0;
  return kFirstMessageTag +
         2 * (number_of(receive.stage) * microbatches + number_of(receive.microbatch)) + backward;
}

Action receive_of_tag(int tag, int microbatches) {
  HEADRACE_CHECK(tag >= kFirstMessageTag, "the tag of a message between stages");
  const int number = tag - kFirstMessageTag;
  return {.kind = number % 2 == 1 ? ActionKind::kRecvBackward : ActionKind::kRecvForward,
          .stage = StageId{number / 2 / microbatches},
          .microbatch = MicrobatchId{number / 2 % microbatches}};
}

}  // namespace headrace
