// A schedule is data: for every device the ordered list of what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"
#include "core/result.h"

namespace headrace {

enum class ActionKind : std::uint8_t {
  kForward,       ///< F
  kBackward,      ///< B: whole backward
  kInputGrad,     ///< I: gradient with respect to the stage's input
  kWeightGrad,    ///< W: gradient with respect to the weights
  kSendForward,   ///< SEND_F: output to the next stage
  kRecvForward,   ///< RECV_F
  kSendBackward,  ///< SEND_B: input gradient to the previous stage
  kRecvBackward,  ///< RECV_B
  kUnshard,       ///< UNSHARD
  kReshard,       ///< RESHARD
  kReduceGrad,    ///< REDUCE_GRAD
};

/// "F", "B", "I", "W", "SEND_F", …
std::string_view name_of(ActionKind kind);

/// True for F, B, I and W: what keeps a device busy.
constexpr bool is_compute(ActionKind kind) {
  return kind <= ActionKind::kWeightGrad;
}

/// One entry of a device's list, 12 bytes. "2F5" is {kForward, StageId{2}, MicrobatchId{5}}.
/// `(0F7;7B3)OVERLAP_F_B` is two entries, the first with `overlaps_next`.
struct Action {
  ActionKind kind = ActionKind::kForward;
  bool overlaps_next = false;
  StageId stage{};
  MicrobatchId microbatch{};
  friend bool operator==(const Action&, const Action&) = default;
};

/// "2F5", "0SEND_F3", "1REDUCE_GRAD" (which has no micro-batch).
std::string to_string(const Action& action);

/// Reads one action without idle or overlap; the whole text must match.
std::optional<Action> action_from_text(std::string_view text);

/// For every device its ordered list of actions, and how the model is laid out over them.
struct Schedule {
  std::string name;  ///< "1f1b", "csv"; for people, never looked at by simulator or executor.
  int stages = 0;
  int devices = 0;
  int microbatches = 0;
  std::vector<DeviceId> device_of_stage;  ///< One entry per stage.
  std::vector<std::vector<Action>> rows;  ///< One list per device.
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// True when some action is a send, a receive or a collective.
bool has_communication(const Schedule& schedule);

/// True when some action is I or W.
bool splits_backward(const Schedule& schedule);

/// Checks that every stage stands on one device and runs every micro-batch exactly once: F, then
/// either B, or I then W, in that order within its row. A schedule without any backward is legal
/// (inference). Fails with kBadInput; `where` is "rank 1 step 4". O(actions).
Result<void> validate(const Schedule& schedule);

/// Bytes of meaning: peak number of micro-batches whose activations stage s holds (from the start
/// of F to the end of B, or of W). One entry per stage. O(actions).
std::vector<int> peak_in_flight(const Schedule& schedule);

}  // namespace headrace
