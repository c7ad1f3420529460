#include "profiler/stable_median.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace headrace {
namespace {

constexpr double kHalfStandardNormal95 = 0.98;  // 1.96 / 2: binomial(n, 1/2) has sd sqrt(n) / 2.
constexpr double kNormalPerAbsoluteDeviation = 1.4826;
constexpr double kOutlierFence = 5;

std::vector<Seconds> sorted(std::span<const Seconds> samples) {
  std::vector<Seconds> ordered(samples.begin(), samples.end());
  std::ranges::sort(ordered);
  return ordered;
}

Seconds middle_of(const std::vector<Seconds>& ordered) {
  const std::size_t half = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[half];
  return (ordered[half - 1] + ordered[half]) / 2;
}

Seconds absolute(Seconds time) {
  return Seconds(std::abs(time.value()));
}

}  // namespace

MedianInterval median_interval(std::span<const Seconds> samples) {
  HEADRACE_CHECK(!samples.empty(), "a median needs a sample");
  const std::vector<Seconds> ordered = sorted(samples);
  const auto count = static_cast<double>(ordered.size());
  const double reach = kHalfStandardNormal95 * std::sqrt(count);
  const double last = count - 1;
  const auto low =
      static_cast<std::size_t>(std::clamp(std::floor(count / 2 - reach) - 1, 0.0, last));
  const auto high = static_cast<std::size_t>(std::clamp(std::ceil(count / 2 + reach), 0.0, last));
  return {.low = ordered[low], .median = middle_of(ordered), .high = ordered[high]};
}

Seconds half_width(const MedianInterval& interval) {
  return (interval.high - interval.low) / 2;
}

bool all_stable(std::span<const std::vector<Seconds>> series, const StabilityRule& rule) {
  std::vector<MedianInterval> intervals;
  Seconds pass{0};
  for (const std::vector<Seconds>& samples : series) {
    if (samples.empty()) continue;
    if (samples.size() < static_cast<std::size_t>(rule.min_repetitions)) return false;
    intervals.push_back(median_interval(samples));
    pass += intervals.back().median;
  }
  return std::ranges::all_of(intervals, [&](const MedianInterval& interval) {
    return half_width(interval) <=
           std::max(interval.median * rule.relative_half_width, pass * rule.share_of_pass);
  });
}

Duration robust_duration(std::span<const Seconds> samples) {
  HEADRACE_CHECK(!samples.empty(), "a duration needs a sample");
  const Seconds median = middle_of(sorted(samples));
  std::vector<Seconds> deviations;
  for (const Seconds sample : samples) deviations.push_back(absolute(sample - median));
  const Seconds fence =
      middle_of(sorted(deviations)) * (kNormalPerAbsoluteDeviation * kOutlierFence);

  std::vector<Seconds> kept;
  for (const Seconds sample : samples) {
    if (absolute(sample - median) <= fence) kept.push_back(sample);
  }
  Duration duration = summarize(std::move(kept));
  duration.samples.clear();
  return duration;
}

}  // namespace headrace
