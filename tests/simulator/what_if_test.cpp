#include "simulator/what_if.h"

#include <random>

#include <doctest/doctest.h>

#include "tests/support/random_schedule.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using doctest::Approx;
using testing::uniform_input;

std::vector<SimulationInput> random_inputs(int count) {
  std::mt19937 random(42);
  std::vector<SimulationInput> inputs;
  for (int i = 0; i < count; ++i) {
    inputs.push_back(testing::random_input(random));
    for (StageCost& stage : inputs.back().stages) {
      stage.saved_activation = Bytes(testing::between(random, 0, 50));
      stage.fixed.parameters = Bytes(testing::between(random, 0, 50));
    }
  }
  return inputs;
}

TEST_SUITE_BEGIN("simulator/what_if");

TEST_CASE("the fast way gives the times and activations of the whole simulation") {
  const std::vector<SimulationInput> inputs = random_inputs(500);
  const auto fast = evaluate(inputs, {.detailed = false});
  const auto whole = evaluate(inputs, {.detailed = true});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CHECK(fast[i]->iteration == whole[i]->iteration);
    CHECK(fast[i]->peak_activations == Approx(whole[i]->peak_activations));
    CHECK(fast[i]->messages == whole[i]->messages);
    CHECK(fast[i]->bubble_ratio == Approx(whole[i]->bubble_ratio));
  }
}

TEST_CASE("answers stand in order whatever the thread count") {
  const std::vector<SimulationInput> inputs = random_inputs(200);
  const auto one = evaluate(inputs, {.threads = 1});
  const auto many = evaluate(inputs, {.threads = 7});
  for (std::size_t i = 0; i < inputs.size(); ++i) CHECK(*one[i] == *many[i]);
}

TEST_CASE("messages and traffic count both ways over every border between devices") {
  SimulationInput input = uniform_input("1f1b", 4, 8);
  for (StageCost& stage : input.stages) stage.output = Bytes{10};
  const auto trained = evaluate(std::vector{input}).front();
  CHECK(trained->messages == 3 * 2 * 8);
  CHECK(trained->traffic == Bytes{480});
  CHECK(evaluate(std::vector{uniform_input("forward-only", 4, 8)}).front()->messages == 24);
}

TEST_CASE("what does not fit says by how much and is never on the front") {
  SimulationInput input = uniform_input("gpipe", 2, 8);
  for (StageCost& stage : input.stages) stage.saved_activation = Bytes{10};
  input.capacity.assign(2, Bytes{50});
  std::vector<WhatIfRow> rows = {{.result = *evaluate(std::vector{input}).front()}};
  CHECK(rows[0].result->missing == Bytes{30});
  rank(rows);
  CHECK_FALSE(rows[0].result->pareto);
}

TEST_CASE("rows of different sizes compare by the time of a micro-batch") {
  std::vector<WhatIfRow> rows;
  for (const int m : {8, 16}) {
    rows.push_back({.result = *evaluate(std::vector{uniform_input("1f1b", 4, m)}).front()});
  }
  rank(rows);
  CHECK(rows[1].result->change == Approx((57.0 / 16) / (33.0 / 8) - 1));
}

TEST_CASE("a failing input fails alone") {
  std::vector<SimulationInput> inputs = {uniform_input("1f1b", 2, 2), uniform_input("1f1b", 2, 2)};
  inputs[0].schedule.rows[1].clear();
  const auto results = evaluate(inputs);
  CHECK_FALSE(results[0].has_value());
  CHECK(results[1].has_value());
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
