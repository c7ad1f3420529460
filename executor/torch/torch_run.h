// One rank of a real run, from the plan to the measured timeline. Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/plan.h"
#include "core/result.h"
#include "core/schedule.h"
#include "core/timeline.h"
#include "executor/channel.h"
#include "executor/run.h"

namespace headrace {

struct TorchRunRequest {
  Plan plan;
  Schedule schedule;
  RunOptions options = {};
  std::string optimizer = {};  ///< Empty: the plan's, or "sgd" where it names none.
  std::uint64_t seed = 0;      ///< Of weights and data; equal on all ranks.
  bool numerics = false;       ///< Compare the first iteration with the unsplit model.
};

/// What rank 0 knows in the end; empty on the others.
struct TorchRunOutcome {
  std::optional<Timeline> timeline;
  std::string numerics = {};  ///< One line for people; empty without the check.
};

/// Builds this rank's stages, runs the schedule's row and brings all measurements to rank 0. All
/// ranks of the channel must call it with equal requests, which is checked.
/// Fails as `run_device`, `run_model_of` and `check_numerics`; with kBadInput when plan and
/// schedule do not fit, or ranks were given different ones.
Result<TorchRunOutcome> run_torch_rank(const TorchRunRequest& request, Channel& channel);

}  // namespace headrace
