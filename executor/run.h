// Runs a schedule on devices and measures it. What computes and what carries messages are behind
// StageBackend and Channel; this file knows neither LibTorch nor sockets.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "core/schedule.h"
#include "core/timeline.h"
#include "core/units.h"

namespace headrace {

/// How long, how often, how patient.
struct RunOptions {
  int warmup = 3;       ///< Iterations that are run and not counted.
  int iterations = 10;  ///< Iterations that are measured.
  Seconds timeout{60};  ///< Longest wait for one message of a peer.
  std::function<void(int done, int total)> on_progress = {};
};

/// Runs the plan's schedule with every layer replaced by a timed wait and every hop by a delay:
/// one thread per device, the same runtime as a real run. The timeline says kEmulated.
/// Fails with kTimeout naming rank, action and micro-batch.
Result<Timeline> run_emulated(const Plan& plan, const Schedule& schedule,
                              const RunOptions& options);

}  // namespace headrace
