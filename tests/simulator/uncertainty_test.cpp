#include "simulator/uncertainty.h"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

/// One stage whose forward has mean 1 and the given spread; backward takes no time.
SimulationInput single_stage(double spread, int microbatches) {
  SimulationInput input = testing::uniform_input("gpipe", 1, microbatches, {.backward = 0});
  input.stages[0].forward_spread = Seconds(spread);
  return input;
}

TEST_SUITE_BEGIN("simulator/uncertainty");

TEST_CASE("without spread the band is the simulated time") {
  const Band band = iteration_band(testing::uniform_input("1f1b", 4, 8), {.replicas = 5}).value();
  CHECK(band.low == Seconds{33});
  CHECK(band.high == Seconds{33});
}

TEST_CASE("equal seeds give equal bands whatever the thread count") {
  const SimulationInput input = single_stage(0.3, 8);
  const Band one = iteration_band(input, {.replicas = 100, .seed = 5}).value();
  CHECK(iteration_band(input, {.replicas = 100, .seed = 5, .threads = 3}).value() == one);
  CHECK_FALSE(iteration_band(input, {.replicas = 100, .seed = 6}).value() == one);
}

TEST_CASE("one action has the quantiles of its lognormal") {
  // Mean 1, deviation 0.5: s^2 = ln 1.25, location -s^2 / 2; quantiles exp(location + z s).
  const double scale = std::sqrt(std::log(1.25));
  const double location = -scale * scale / 2;
  const Band band = iteration_band(single_stage(0.5, 1), {.replicas = 100'000}).value();
  CHECK(band.low.value() == doctest::Approx(std::exp(location - 1.645 * scale)).epsilon(0.01));
  CHECK(band.median.value() == doctest::Approx(std::exp(location)).epsilon(0.01));
  CHECK(band.high.value() == doctest::Approx(std::exp(location + 1.645 * scale)).epsilon(0.01));
}

TEST_CASE("a sum of independent times spreads with the root of their number") {
  const Band band = iteration_band(single_stage(0.1, 100), {.replicas = 20'000}).value();
  CHECK(band.median.value() == doctest::Approx(100).epsilon(0.005));
  CHECK((band.high - band.low).value() == doctest::Approx(2 * 1.645 * 0.1 * 10).epsilon(0.05));
}

TEST_CASE("a pipeline of random stages is slower than one of their means") {
  SimulationInput input = testing::uniform_input("1f1b", 8, 16);
  for (StageCost& stage : input.stages) {
    stage.forward_spread = Seconds(0.3);
    stage.backward_spread = Seconds(0.6);
  }
  CHECK(iteration_band(input, {.replicas = 300}).value().median >
        simulated_iteration(input).value() * 1.05);
}

TEST_CASE("measured samples are drawn as they are") {
  SimulationInput input = single_stage(0.3, 1);
  input.samples[0] = {{Seconds{1}, Seconds{2}, Seconds{9}}};
  const Band band = iteration_band(input, {.replicas = 2000}).value();
  CHECK(band.low == Seconds{1});
  CHECK(band.median == Seconds{2});
  CHECK(band.high == Seconds{9});
}

TEST_CASE("times that are given action by action are kept") {
  SimulationInput input = single_stage(0.3, 2);
  input.durations[0] = {Seconds{3}, Seconds{4}};
  const Band band = iteration_band(input, {.replicas = 20}).value();
  CHECK(band.low == Seconds{7});
  CHECK(band.high == Seconds{7});
}

TEST_CASE("a straggler slows its device in the share of the iterations that it is given") {
  const SimulationInput input = testing::uniform_input("gpipe", 1, 4, {.backward = 0});
  const Slowdown often = {.probability = 0.6, .factor = 3};
  const Band band = iteration_band(input, {.replicas = 2000, .straggler = often}).value();
  CHECK(band.low == Seconds{4});
  CHECK(band.median == Seconds{12});
}

TEST_CASE("slow links slow the messages and nothing else") {
  const SimulationInput input = testing::uniform_input("1f1b", 2, 1, {.hop = 1});
  const Slowdown always = {.probability = 1, .factor = 5};
  const Band band = iteration_band(input, {.replicas = 3, .slow_link = always}).value();
  CHECK(band.median == simulated_iteration(input).value() + Seconds{8});
}

TEST_CASE("options out of range are usage errors") {
  const SimulationInput input = single_stage(0.3, 1);
  CHECK(iteration_band(input, {.replicas = 0}).error().code == ErrorCode::kUsage);
  CHECK(iteration_band(input, {.coverage = 1}).error().code == ErrorCode::kUsage);
  CHECK(iteration_band(input, {.threads = 0}).error().code == ErrorCode::kUsage);
  CHECK(iteration_band(input, {.straggler = {0.5, 0.5}}).error().code == ErrorCode::kUsage);
  CHECK(iteration_band(input, {.slow_link = {1.5, 2}}).error().code == ErrorCode::kUsage);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
