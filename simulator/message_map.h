// Numbers the messages of a schedule and says who makes, sends, receives and needs each.
#pragma once

#include <cstdint>
#include <string>

#include "core/schedule.h"

namespace headrace {

/// A message is the output (forward) or the input gradient (backward) of one stage and
/// micro-batch; messages are numbered 0 .. 2 S M - 1, named after the stage that makes them.
class MessageMap {
 public:
  using Message = std::int64_t;
  static constexpr Message kNone = -1;

  /// The schedule must outlive the map.
  explicit MessageMap(const Schedule& schedule)
      : schedule_(schedule),
        pairs_(static_cast<std::int64_t>(schedule.stages) * schedule.microbatches) {}

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(2 * pairs_); }

  [[nodiscard]] Message made_by(bool forward, int stage, MicrobatchId microbatch) const {
    return (forward ? 0 : pairs_) + static_cast<std::int64_t>(stage) * schedule_.microbatches +
           number_of(microbatch);
  }

  /// What a compute action makes for another stage; kNone for W.
  [[nodiscard]] Message output_of(const Action& action) const {
    if (action.kind == ActionKind::kForward || passes_gradient(action.kind)) {
      return made_by(action.kind == ActionKind::kForward, number_of(action.stage),
                     action.microbatch);
    }
    return kNone;
  }

  /// What a compute action needs from another stage; kNone where it needs nothing.
  [[nodiscard]] Message input_of(const Action& action) const {
    const int stage = number_of(action.stage);
    if (action.kind == ActionKind::kForward && !is_first_stage(schedule_, stage)) {
      return made_by(true, stage - 1, action.microbatch);
    }
    if (passes_gradient(action.kind) && !is_last_stage(schedule_, stage)) {
      return made_by(false, stage + 1, action.microbatch);
    }
    return kNone;
  }

  /// The message that a send or receive is about.
  [[nodiscard]] Message moved_by(const Action& action) const {
    const int stage = number_of(action.stage);
    switch (action.kind) {
      case ActionKind::kSendForward:
        return made_by(true, stage, action.microbatch);
      case ActionKind::kRecvForward:
        return made_by(true, stage - 1, action.microbatch);
      case ActionKind::kSendBackward:
        return made_by(false, stage, action.microbatch);
      default:
        return made_by(false, stage + 1, action.microbatch);
    }
  }

  [[nodiscard]] bool is_forward(Message message) const { return message < pairs_; }
  [[nodiscard]] std::size_t sender_stage(Message message) const {
    return static_cast<std::size_t>(message % pairs_ / schedule_.microbatches);
  }
  [[nodiscard]] std::size_t sender(Message message) const {
    return index_of(schedule_.device_of_stage[sender_stage(message)]);
  }
  [[nodiscard]] std::size_t receiver(Message message) const {
    const std::size_t stage = sender_stage(message);
    return index_of(schedule_.device_of_stage[is_forward(message) ? stage + 1 : stage - 1]);
  }

  /// The send or receive of a message in schedule notation: "2RECV_F5".
  [[nodiscard]] std::string name(Message message, bool receive) const {
    const bool forward = is_forward(message);
    const int stage = static_cast<int>(sender_stage(message)) + (receive ? (forward ? 1 : -1) : 0);
    const ActionKind send = forward ? ActionKind::kSendForward : ActionKind::kSendBackward;
    const ActionKind recv = forward ? ActionKind::kRecvForward : ActionKind::kRecvBackward;
    const auto microbatch = static_cast<int>(message % schedule_.microbatches);
    return to_string({.kind = receive ? recv : send,
                      .stage = StageId{stage},
                      .microbatch = MicrobatchId{microbatch}});
  }

 private:
  const Schedule& schedule_;
  std::int64_t pairs_;
};

}  // namespace headrace
