// Cases about what a schedule does with given stages: O01, O03 and O14.
#include <cmath>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "tests/acceptance/wiring.h"

namespace headrace {
namespace {

using doctest::Approx;
using testing::schedule_of;
using testing::Wish;

TEST_SUITE_BEGIN("acceptance/simulation");

Simulation simulate_stages(Schedule schedule, const std::vector<double>& work) {
  SimulationInput input{.schedule = std::move(schedule)};
  for (const double both : work) {
    input.stages.push_back({.forward = Seconds(both / 3), .backward = Seconds(2 * both / 3)});
  }
  input.hop_forward.assign(work.size(), Seconds{0});
  input.hop_backward.assign(work.size(), Seconds{0});
  const auto outcome = simulate(input);
  REQUIRE(outcome.has_value());
  return outcome->report;
}

TEST_CASE("O01 GPipe and 1F1B have the same bubble and different memory") {
  for (const auto& [name, peaks] : {std::pair{"gpipe", std::vector<double>{8, 8, 8, 8}},
                                    std::pair{"1f1b", std::vector<double>{4, 3, 2, 1}}}) {
    CAPTURE(name);
    const Wish wish{.stages = 4, .microbatches = 8, .schedule = name};
    const Simulation report = simulate_stages(schedule_of(wish), {3, 3, 3, 3});
    CHECK(report.makespan.value() == Approx(33));
    CHECK(report.bubble_ratio == Approx(3.0 / 11));
    CHECK(report.bubble_overhead == Approx(0.375));
    for (std::size_t d = 0; d < 4; ++d) {
      CHECK(report.per_device[d].peak_activations == Approx(peaks[d]));
    }
  }
}

TEST_CASE("O03 the order of equal stages changes the simulated time and not the formula") {
  struct Order {
    std::vector<double> work;
    double four;
    double eight;
  };
  for (const auto& [work, four, eight] :
       {Order{{1, 2, 3}, 15, 27}, Order{{1, 3, 2}, 14, 26}, Order{{3, 2, 1}, 13, 25}}) {
    CAPTURE(work.front());
    const auto with_four = simulate_stages(schedule_of({.stages = 3, .microbatches = 4}), work);
    const auto with_eight = simulate_stages(schedule_of({.stages = 3, .microbatches = 8}), work);
    CHECK(with_four.makespan.value() == Approx(four));
    CHECK(with_eight.makespan.value() == Approx(eight));
    CHECK(with_four.formula.total.value() == Approx(18));
    CHECK(with_eight.formula.total.value() == Approx(30));
  }
}

TEST_CASE("O14 schedule files with and without blank cells simulate alike") {
  constexpr const char* kBlanks =
      "0F0,,,0F1,0B0,0F2,0B1,0F3,0B2,,0B3\n1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n";
  constexpr const char* kDense =
      "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n";
  for (const char* text : {kBlanks, kDense}) {
    const auto schedule = schedule_from_csv(text, "schedule.csv");
    REQUIRE(schedule.has_value());
    const Simulation report = simulate_stages(*schedule, {3, 3});
    CHECK(report.makespan.value() == Approx(15));
    CHECK(report.bubble_ratio == Approx(0.2));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
