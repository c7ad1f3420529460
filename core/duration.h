// A time that was measured more than once: mean, spread and, where kept, the samples.
#pragma once

#include <vector>

#include "core/units.h"

namespace headrace {

/// A time as a distribution. `stddev` is the spread of one execution, not of the mean.
struct Duration {
  Seconds mean{0};
  Seconds stddev{0};
  std::vector<Seconds> samples = {};  ///< Empty where the source has none.
  friend bool operator==(const Duration&, const Duration&) = default;
};

/// Sum of independent times: means add, variances add, samples are dropped.
Duration operator+(const Duration& a, const Duration& b);

/// Mean and sample standard deviation of `samples`, which must not be empty; keeps them.
Duration summarize(std::vector<Seconds> samples);

}  // namespace headrace
