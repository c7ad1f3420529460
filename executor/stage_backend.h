// The seam between the schedule runner and what computes: LibTorch, timed waits, or a fake.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/result.h"
#include "core/schedule.h"
#include "core/units.h"

namespace headrace {

/// What the backend held while an action ran; absent where it cannot tell.
struct HeldMemory {
  Bytes peak{0};   ///< Largest at any moment of the action.
  Bytes after{0};  ///< When it was done.
};

/// All stages of one device. The runtime decides when, the backend decides how. Boundary tensors
/// are bytes here, named by the action that moves them: RECV_F and SEND_B of a stage are its input
/// and that input's gradient, SEND_F and RECV_B its output and that output's gradient. Used by one
/// thread.
class StageBackend {
 public:
  virtual ~StageBackend() = default;

  /// Runs F, B, I or W. The tensors it needs have been received or handed over before.
  virtual Result<std::optional<HeldMemory>> compute(const Action& action) = 0;

  /// RECV_F, RECV_B: where to write the bytes that will arrive, valid until the action that needs
  /// them has run. SEND_F, SEND_B: the bytes to send, valid until `release`.
  virtual Result<std::span<std::byte>> buffer(const Action& transfer) = 0;

  /// Gives the tensor of a SEND_F or SEND_B to the neighbour stage on this same device.
  virtual Result<void> hand_over(const Action& send) = 0;

  /// The message of this SEND_F or SEND_B is through.
  virtual void release(const Action& send) = 0;

  /// After the last action of an iteration: exchange of shared gradients and optimizer step.
  virtual Result<void> finish_iteration() = 0;
};

}  // namespace headrace
