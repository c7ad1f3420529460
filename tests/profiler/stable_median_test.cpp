#include "profiler/stable_median.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "tests/support/builders.h"

namespace headrace {
namespace {

using testing::seconds;

std::vector<Seconds> equal(int count, double value) {
  return std::vector<Seconds>(static_cast<std::size_t>(count), Seconds(value));
}

std::vector<Seconds> one_to(int count) {
  std::vector<Seconds> values;
  for (int i = 1; i <= count; ++i) values.emplace_back(i);
  return values;
}

}  // namespace

TEST_SUITE_BEGIN("profiler/stable_median");

TEST_CASE("the median of an even sample lies between the middle two") {
  CHECK(median_interval(seconds({4, 1, 3, 2})).median == Seconds(2.5));
  CHECK(median_interval(seconds({7})) == MedianInterval{Seconds(7), Seconds(7), Seconds(7)});
}

TEST_CASE("below six samples the interval is the whole sample") {
  CHECK(median_interval(one_to(5)) == MedianInterval{Seconds(1), Seconds(3), Seconds(5)});
}

TEST_CASE("of a hundred samples the interval spans the 40th to the 61st") {
  // The published table of order statistics for the median: n = 100 gives ranks 40 and 61.
  CHECK(median_interval(one_to(100)) == MedianInterval{Seconds(40), Seconds(50.5), Seconds(61)});
}

TEST_CASE("the interval holds the true median in 95 of 100 samples or more") {
  std::mt19937 random(7);
  std::exponential_distribution<double> skewed(1);
  const double truth = 0.6931471805599453;
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Seconds> sample;
    for (int i = 0; i < 31; ++i) sample.emplace_back(skewed(random));
    const MedianInterval interval = median_interval(sample);
    held += interval.low.value() <= truth && truth <= interval.high.value() ? 1 : 0;
  }
  CHECK(held >= 1900);
  CHECK(held <= 1990);  // An interval that always holds says nothing.
}

TEST_CASE("too few repetitions are never stable") {
  const std::vector<std::vector<Seconds>> nine = {equal(9, 1)};
  const std::vector<std::vector<Seconds>> ten = {equal(10, 1)};
  CHECK_FALSE(all_stable(nine, {}));
  CHECK(all_stable(ten, {}));
}

TEST_CASE("a wide median is not stable unless it is small beside the pass") {
  std::vector<Seconds> wide;
  for (int i = 0; i < 20; ++i) wide.emplace_back(1 + 0.2 * (i % 5));
  const std::vector<std::vector<Seconds>> alone = {wide};
  const std::vector<std::vector<Seconds>> beside_a_giant = {wide, equal(20, 1000)};
  CHECK_FALSE(all_stable(alone, {}));
  CHECK(all_stable(beside_a_giant, {}));
}

TEST_CASE("outliers are dropped and the spread of the rest is kept") {
  std::vector<Seconds> samples = seconds({9, 10, 11, 9, 10, 11, 9, 10, 11});
  const Duration clean = summarize(samples);
  samples.emplace_back(500);
  const Duration robust = robust_duration(samples);
  CHECK(robust.mean == clean.mean);
  CHECK(robust.stddev == clean.stddev);
  CHECK(robust.samples.empty());
}

TEST_CASE("equal samples have no spread") {
  const Duration duration = robust_duration(equal(5, 3));
  CHECK(duration.mean == Seconds(3));
  CHECK(duration.stddev == Seconds(0));
}

TEST_SUITE_END();

}  // namespace headrace
