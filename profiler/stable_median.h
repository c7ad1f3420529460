// When has a time been measured often enough, and what is it then?
#pragma once

#include <span>
#include <vector>

#include "core/duration.h"
#include "core/units.h"

namespace headrace {

/// The median of a sample and where the true median lies with about 95 % confidence.
struct MedianInterval {
  Seconds low{0};
  Seconds median{0};
  Seconds high{0};
  friend bool operator==(const MedianInterval&, const MedianInterval&) = default;
};

/// Free of assumptions about the distribution: the bounds are order statistics, whose ranks follow
/// the binomial distribution. `samples` must not be empty; below 6 the bounds are the extremes.
MedianInterval median_interval(std::span<const Seconds> samples);

/// Half the interval's width, the uncertainty of the median.
Seconds half_width(const MedianInterval& interval);

/// When to stop repeating.
struct StabilityRule {
  int min_repetitions = 10;
  double relative_half_width = 0.015;  ///< Of the time's own median …
  double share_of_pass = 0.001;        ///< … or of the whole pass, whichever is more.
};

/// True when every series has enough samples and a median that is known well enough. A short layer
/// next to long ones need not be known to a percent of itself. Empty series are left out.
bool all_stable(std::span<const std::vector<Seconds>> series, const StabilityRule& rule);

/// Mean and spread without the outliers: samples farther from the median than five times its
/// scaled median absolute deviation are dropped (interrupts, page faults), the spread of the rest
/// is kept. The samples themselves are not. `samples` must not be empty.
Duration robust_duration(std::span<const Seconds> samples);

}  // namespace headrace
