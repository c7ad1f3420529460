#include "report/explanation.h"

#include <random>

#include <doctest/doctest.h>

#include "tests/support/simulation_builders.h"

using namespace headrace;
using headrace::testing::uniform_input;

TEST_SUITE_BEGIN("report/explanation");

namespace {

/// Stages of 10 ms and 20 ms, hops of 1 ms.
SimulationInput base_input() {
  return uniform_input("1f1b", 3, 4, {.forward = 0.01, .backward = 0.02, .hop = 0.001});
}

std::vector<DifferencePart> parts_between(const SimulationInput& predicted,
                                          const SimulationInput& measured) {
  const SimulationOutcome a = simulate(predicted).value();
  const SimulationOutcome b = simulate(measured).value();
  return difference_parts({.predicted = a.timeline,
                           .measured = b.timeline,
                           .predicted_iteration = a.report.iteration,
                           .measured_iteration = b.report.iteration})
      .value();
}

}  // namespace

TEST_CASE("a slower stage is named first with its milliseconds") {
  SimulationInput measured = base_input();
  measured.stages[1].backward += Seconds(0.005);
  const auto parts = parts_between(base_input(), measured);
  CHECK(parts.front().reason == "stage 1 computes slower than predicted (4 actions in a row)");
  CHECK(parts.front().time.value() == doctest::Approx(0.010));  // two of them are backwards
}

TEST_CASE("slower messages are named as messages") {
  SimulationInput measured = base_input();
  measured.hop_forward.assign(3, Seconds(0.004));
  measured.hop_backward.assign(3, Seconds(0.004));
  const auto parts = parts_between(base_input(), measured);
  CHECK(parts.front().reason == "messages between stages");
}

TEST_CASE("an optimizer that was not predicted stands after the last action") {
  SimulationInput measured = base_input();
  measured.optimizer = Seconds(0.03);
  const auto parts = parts_between(base_input(), measured);
  CHECK(parts.front().reason == "gradient reduction and optimizer after the last action");
  CHECK(parts.front().time.value() == doctest::Approx(0.03));
}

TEST_CASE("the parts of random runs add up to the whole difference") {
  std::mt19937_64 random(11);
  const auto some = [&] { return 1e-3 * (1 + static_cast<double>(random() % 50)); };
  const auto vary = [&](SimulationInput input) {
    for (StageCost& stage : input.stages) stage = {Seconds(some()), Seconds(some())};
    input.hop_forward.assign(input.stages.size(), Seconds(some()));
    input.optimizer = Seconds(some());
    return input;
  };
  for (int round = 0; round < 1000; ++round) {
    const SimulationInput shape =
        uniform_input(random() % 2 == 0 ? "1f1b" : "gpipe", 1 + static_cast<int>(random() % 5),
                      1 + static_cast<int>(random() % 6));
    const SimulationInput predicted = vary(shape);
    const SimulationInput measured = vary(shape);
    Seconds total{0};
    for (const DifferencePart& part : parts_between(predicted, measured)) total += part.time;
    const Seconds difference =
        simulate(measured).value().report.iteration - simulate(predicted).value().report.iteration;
    INFO(round);
    REQUIRE(total.value() == doctest::Approx(difference.value()).epsilon(1e-9));
  }
}

TEST_CASE("parts below a thousandth of the iteration are not said") {
  const SimulationOutcome run = simulate(base_input()).value();
  const DifferenceInput input{.predicted = run.timeline,
                              .measured = run.timeline,
                              .predicted_iteration = Seconds{0.200},
                              .measured_iteration = Seconds{0.205}};
  const std::vector<DifferencePart> parts = {{"large", Seconds{0.004}}, {"small", Seconds{-1e-5}}};
  CHECK(explanation_of(parts, input, 0.01) == std::vector<std::string>{"+4.000 ms  large"});
  CHECK(explanation_of({}, input, 0.03) ==
        std::vector<std::string>{"the whole difference of +5.000 ms is within the noise floor"});
}
