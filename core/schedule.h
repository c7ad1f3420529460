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
  kRecompute,     ///< R: forward once more, for the activations that F did not keep
  kSendForward,   ///< SEND_F: output to the next stage
  kRecvForward,   ///< RECV_F
  kSendBackward,  ///< SEND_B: input gradient to the previous stage
  kRecvBackward,  ///< RECV_B
  kOffload,       ///< OFFLOAD: activations to host memory, beside the computation
  kReload,        ///< RELOAD: and back, before their backward
  kUnshard,       ///< UNSHARD
  kReshard,       ///< RESHARD
  kReduceGrad,    ///< REDUCE_GRAD: all-reduce of a stage's gradients over its data replicas
  kReduceTied,    ///< REDUCE_TIED: all-reduce of weights that stages share
  kOptimizer,     ///< OPTIMIZER: update of a stage's weights
};

/// "F", "B", "I", "W", "SEND_F", …
std::string_view name_of(ActionKind kind);

/// True for F, B, I, W and R: what keeps a device busy.
constexpr bool is_compute(ActionKind kind) {
  return kind <= ActionKind::kRecompute;
}
constexpr std::size_t kComputeKinds = 5;

constexpr bool is_send(ActionKind kind) {
  return kind == ActionKind::kSendForward || kind == ActionKind::kSendBackward;
}
constexpr bool is_receive(ActionKind kind) {
  return kind == ActionKind::kRecvForward || kind == ActionKind::kRecvBackward;
}
constexpr bool is_message(ActionKind kind) {
  return is_send(kind) || is_receive(kind);
}

/// A copy between a device and its host.
constexpr bool is_copy(ActionKind kind) {
  return kind == ActionKind::kOffload || kind == ActionKind::kReload;
}

/// B or I: what passes the gradient on to the stage before.
constexpr bool passes_gradient(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kInputGrad;
}

/// B, I or R: what needs the activations that F saved.
constexpr bool needs_activations(ActionKind kind) {
  return passes_gradient(kind) || kind == ActionKind::kRecompute;
}

/// False for what a stage does once an iteration.
constexpr bool has_microbatch(ActionKind kind) {
  return kind < ActionKind::kUnshard;
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
/// With R `pipelines` the model stands R times on the devices (DualPipe and Chimera: twice, in
/// opposite directions): stages 0 to S / R - 1 are the first replica, the next S / R the second …,
/// and replica k runs its share of the micro-batches, see `microbatches_of`.
struct Schedule {
  std::string name;  ///< "1f1b", "csv"; for people, never looked at by simulator or executor.
  int stages = 0;    ///< Of all replicas.
  int devices = 0;
  int microbatches = 0;                   ///< Of one iteration, over all replicas.
  std::vector<DeviceId> device_of_stage;  ///< One entry per stage.
  std::vector<std::vector<Action>> rows;  ///< One list per device.
  int pipelines = 1;
  /// Copies of the weights that a stage keeps so that a micro-batch meets the same ones in forward
  /// and backward; empty: one each.
  std::vector<int> weight_versions = {};
  /// Pieces of its sequence that a micro-batch is cut into: `microbatches` counts pieces,
  /// micro-batch b being b k to b k + k - 1 (Seq1F1B).
  int pieces = 1;
  /// False where the pipeline is not drained between updates (PipeDream): iterations run into one
  /// another and the steady state decides.
  bool flushes = true;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// True when `stage` is the first of its replica: its input is the data, not a message. `of` has
/// stages and pipelines: a Schedule or a Timeline.
template <typename T>
bool is_first_stage(const T& of, int stage) {
  return stage % (of.stages / of.pipelines) == 0;
}

/// True when `stage` is the last of its replica: its backward starts from the loss.
template <typename T>
bool is_last_stage(const T& of, int stage) {
  return (stage + 1) % (of.stages / of.pipelines) == 0;
}

/// Micro-batches [first, end).
struct MicrobatchRange {
  int first = 0;
  int end = 0;
  [[nodiscard]] bool contains(int microbatch) const {
    return first <= microbatch && microbatch < end;
  }
};

/// What `stage` runs: replica k of R has [k M / R, (k + 1) M / R), rounded down.
MicrobatchRange microbatches_of(const Schedule& schedule, int stage);

/// What occurs in a schedule, found in one pass over its actions.
struct ScheduleTraits {
  bool messages = false;        ///< Some send or receive.
  bool split_backward = false;  ///< Some I.
  bool copies = false;          ///< Some OFFLOAD.
};
ScheduleTraits traits_of(const Schedule& schedule);

/// True when some action is a send, a receive or a collective.
bool has_communication(const Schedule& schedule);

/// True when some action is a send or a receive.
bool has_messages(const Schedule& schedule);

/// True when some action is a backward (B or I): a schedule without any is inference.
bool trains(const Schedule& schedule);

/// True when some action is I or W.
bool splits_backward(const Schedule& schedule);

/// Checks that every stage stands on one device and runs every micro-batch of its replica exactly
/// once: F, then
/// either B, or I then W, in that order within its row; between F and B or I at most one R and one
/// OFFLOAD, whose RELOAD comes before R. A schedule without any backward is legal (inference).
/// Fails with kBadInput; `where` is "rank 1 step 4". O(actions).
Result<void> validate(const Schedule& schedule);

/// Bytes of meaning: peak number of micro-batches whose activations stage s holds (from the start
/// of F to the end of B, or of W). One entry per stage. O(actions).
std::vector<int> peak_in_flight(const Schedule& schedule);

/// What every device holds at once, in micro-batches of each of its stages (ascending): all
/// combinations that occur and are not below another one in every stage. With activations of
/// different sizes one of them is the peak, whatever the times. O(actions x combinations).
std::vector<std::vector<std::vector<int>>> largest_holdings(const Schedule& schedule);

}  // namespace headrace
