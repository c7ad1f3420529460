#include "core/duration.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "core/check.h"

namespace headrace {

Duration operator+(const Duration& a, const Duration& b) {
  return {.mean = a.mean + b.mean,
          .stddev = Seconds(std::hypot(a.stddev.value(), b.stddev.value()))};
}

Duration summarize(std::vector<Seconds> samples) {
  HEADRACE_CHECK(!samples.empty(), "a summary needs at least one sample");
  const auto count = static_cast<double>(samples.size());
  const Seconds total = std::accumulate(samples.begin(), samples.end(), Seconds{0});
  const Seconds mean = total / count;
  double squares = 0;
  for (const Seconds sample : samples) squares += std::pow((sample - mean).value(), 2);
  const double variance = samples.size() > 1 ? squares / (count - 1) : 0;
  return {.mean = mean, .stddev = Seconds(std::sqrt(variance)), .samples = std::move(samples)};
}

}  // namespace headrace
