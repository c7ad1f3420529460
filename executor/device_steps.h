// One device's row of a schedule with the messages that its actions need and make.
#pragma once

#include <optional>
#include <vector>

#include "core/ids.h"
#include "core/result.h"
#include "core/schedule.h"

namespace headrace {

/// A compute action with what goes before and after it.
struct DeviceStep {
  Action action;
  std::optional<Action> receive = {};    ///< RECV_F or RECV_B to wait for, from another device.
  std::optional<Action> send = {};       ///< SEND_F or SEND_B to post, to another device.
  std::optional<Action> hand_over = {};  ///< The same when the neighbour stage is on this device.
  friend bool operator==(const DeviceStep&, const DeviceStep&) = default;
};

/// The compute actions of the device's row, in its order. Sends and receives follow from them:
/// such actions in the row itself are skipped. The schedule must be valid.
/// Fails with kDeadlock when an action stands before one of the same device that it needs.
Result<std::vector<DeviceStep>> device_steps(const Schedule& schedule, DeviceId device);

/// The receive at the other end of a send: 2SEND_F5 arrives as 3RECV_F5, 2SEND_B5 as 1RECV_B5.
Action received_as(const Action& send);

/// The stage at the other end of a send or receive.
StageId other_end(const Action& transfer);

/// A number that no other message between two devices in one iteration has; tags below
/// kFirstMessageTag are for other purposes.
inline constexpr int kFirstMessageTag = 16;
int message_tag(const Action& receive, int microbatches);

/// The receive action that has this tag.
Action receive_of_tag(int tag, int microbatches);

}  // namespace headrace
