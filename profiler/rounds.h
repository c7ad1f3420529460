// The protocol of a measurement: warm up, then repeat whole rounds over everything that is measured
// until every median is stable.
#pragma once

#include <functional>
#include <vector>

#include "core/units.h"
#include "profiler/stable_median.h"

namespace headrace {

/// One time measured within a round.
struct Sample {
  int series = 0;  ///< Which quantity: 0 .. n-1.
  Seconds time{0};
};

struct RoundOptions {
  int warmup = 3;
  int max_rounds = 400;
  Seconds time_limit{60};  ///< Checked between rounds, after the warm-up and one round.
  StabilityRule stability = {};
  std::function<void(int done, int total)> on_progress = {};
};

struct RoundsResult {
  std::vector<std::vector<Seconds>> series;
  int rounds = 0;       ///< That were counted.
  bool stable = false;  ///< False where the limits came first.
};

/// A round measures every quantity once (or several times), so that a drift of the machine hits all
/// alike. `now` is read between rounds only.
RoundsResult measure_in_rounds(int series_count, const std::function<std::vector<Sample>()>& round,
                               const RoundOptions& options, const std::function<Seconds()>& now);

}  // namespace headrace
