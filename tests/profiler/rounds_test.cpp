#include "profiler/rounds.h"

#include <doctest/doctest.h>

namespace headrace {
namespace {

// A clock that advances by `tick` whenever it is read.
std::function<Seconds()> ticking(double tick) {
  return [tick, now = 0.0]() mutable { return Seconds(now += tick); };
}

}  // namespace

TEST_SUITE_BEGIN("profiler/rounds");

TEST_CASE("rounds stop once every median is stable") {
  const auto steady = [] { return std::vector<Sample>{{0, Seconds(1)}, {1, Seconds(2)}}; };
  const RoundsResult result = measure_in_rounds(2, steady, {}, ticking(0));
  CHECK(result.stable);
  CHECK(result.rounds == StabilityRule{}.min_repetitions);
  CHECK(result.series[1].size() == 10);
}

TEST_CASE("the warm-up is run and not counted") {
  int calls = 0;
  const auto first_is_slow = [&] {
    return std::vector<Sample>{{0, Seconds(calls++ < 3 ? 100 : 1)}};
  };
  const RoundsResult result = measure_in_rounds(1, first_is_slow, {}, ticking(0));
  CHECK(calls == 13);
  CHECK(result.series[0].front() == Seconds(1));
}

TEST_CASE("what never settles ends at the most rounds") {
  int calls = 0;
  const auto noisy = [&] { return std::vector<Sample>{{0, Seconds(1 + calls++ % 7)}}; };
  const RoundsResult result = measure_in_rounds(1, noisy, {.max_rounds = 50}, ticking(0));
  CHECK(result.rounds == 50);
  CHECK_FALSE(result.stable);
}

TEST_CASE("the time limit ends the rounds but never before the first") {
  int calls = 0;
  const auto noisy = [&] { return std::vector<Sample>{{0, Seconds(1 + calls++ % 7)}}; };
  const RoundOptions options{.time_limit = Seconds(5)};
  CHECK(measure_in_rounds(1, noisy, options, ticking(1)).rounds == 5);
  CHECK(measure_in_rounds(1, noisy, options, ticking(100)).rounds == 1);
}

TEST_CASE("progress counts up to the least number of rounds") {
  std::vector<int> done;
  RoundOptions options;
  options.on_progress = [&](int step, int total) {
    done.push_back(step);
    CHECK(total == 13);
  };
  measure_in_rounds(
      1,
      [] {
        return std::vector<Sample>{{0, Seconds(1)}};
      },
      options, ticking(0));
  CHECK(done.front() == 0);
  CHECK(done.back() == 13);
}

TEST_SUITE_END();

}  // namespace headrace
