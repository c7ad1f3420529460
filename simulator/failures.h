// What failures of devices cost a long run: lost work, checkpoints, restarts.
#pragma once

#include <cstdint>

#include "core/result.h"
#include "core/simulation.h"
#include "core/units.h"

namespace headrace {

/// Failures come at random (exponential), one device stops all; the run goes back to the last
/// checkpoint.
struct FailureModel {
  Seconds time_between_failures{0};  ///< Mean, of one device.
  int devices = 1;
  Seconds checkpoint_interval{0};  ///< Useful work between two checkpoints; 0: the best one.
  Seconds checkpoint_cost{0};      ///< The run stands still.
  Seconds restart_cost{0};         ///< From the failure to the first new iteration.
  Seconds run{86400};              ///< Useful work of one replica of the band: a day.
  int replicas = 200;
  std::uint64_t seed = 0;
};

/// With M = time between failures / devices, an interval T with its checkpoint C and restarts R
/// takes M e^(R / M) (e^((T + C) / M) - 1) on average (Daly, "A higher order estimate of the
/// optimum checkpoint interval for restart dumps", 2006, equation 13); a failure may hit a restart
/// too. The best T is found by search. The band comes from seeded runs. O(replicas x (run / T +
/// failures)). Fails with kUsage on times that are not positive, and with kInfeasible where a run
/// would not come forward (more than 1,000 times the useful time).
Result<Goodput> goodput(Seconds iteration, const FailureModel& model);

}  // namespace headrace
