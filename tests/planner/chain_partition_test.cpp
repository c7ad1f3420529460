#include "planner/chain_partition.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "planner/chain_costs.h"
#include "tests/planner/chain_oracle.h"

namespace headrace {
namespace {

using testing::ChainOptions;

TEST_SUITE_BEGIN("planner/chain_partition");

ChainProblem chain_of(std::initializer_list<std::int64_t> times, int stages) {
  ChainProblem problem;
  for (const std::int64_t time : times) problem.layers.push_back({.time = time});
  problem.stages.assign(static_cast<std::size_t>(stages), {});
  problem.border_bytes.assign(problem.layers.size() + 1, 0);
  return problem;
}

/// Compares thousands of seeded chains with exhaustive search; returns how many were feasible.
int agree_with_trying_all(const ChainOptions& options, int cases) {
  std::mt19937_64 random(20261201);
  int feasible = 0;
  for (int i = 0; i < cases; ++i) {
    const ChainProblem problem = testing::random_chain(random, options);
    const auto expected = testing::best_cut_by_trying_all(problem);
    CAPTURE(i);
    REQUIRE(partition_chain(problem) == expected);
    if (expected) ++feasible;
    if (!options.memory) continue;
    const ChainShortfall shortfall = smallest_shortfall(problem);
    const std::int64_t least = testing::shortfall_by_trying_all(problem);
    // Where something fits the question is of no interest beyond "nothing is missing".
    REQUIRE((least > 0 ? shortfall.bytes == least : shortfall.bytes <= 0));
  }
  return feasible;
}

TEST_CASE("a heavy layer gets a stage of its own") {
  // layers  1 1 6 1 1
  // stages |---|-|---|   slowest stage: 6
  const auto cut = partition_chain(chain_of({1, 1, 6, 1, 1}, 3));
  REQUIRE(cut.has_value());
  CHECK(cut->borders == Borders{0, 2, 3, 5});
  CHECK(cut->bottleneck == 6);
}

TEST_CASE("of equally fast cuts the one with fewer bytes wins") {
  // layers  1 1 1 1     bytes at the borders: 9 5 2
  ChainProblem problem = chain_of({1, 1, 1, 1}, 3);
  problem.border_bytes = {0, 9, 5, 2, 0};
  const auto cut = partition_chain(problem);
  REQUIRE(cut.has_value());
  CHECK(cut->borders == Borders{0, 2, 3, 4});
  CHECK(cut->border_bytes == 7);
}

TEST_CASE("of equally fast and light cuts the smallest borders win") {
  const auto cut = partition_chain(chain_of({1, 1, 1, 1, 1}, 4));
  REQUIRE(cut.has_value());
  CHECK(cut->borders == Borders{0, 1, 2, 3, 5});
}

TEST_CASE("layers that take no time still fill every stage") {
  const auto cut = partition_chain(chain_of({0, 0, 0}, 3));
  REQUIRE(cut.has_value());
  CHECK(cut->borders == Borders{0, 1, 2, 3});
  CHECK(cut->bottleneck == 0);
}

TEST_CASE("chains without memory limits equal exhaustive search") {
  CHECK(agree_with_trying_all({}, 3000) == 3000);
}

TEST_CASE("memory limits with falling in-flight counts equal exhaustive search") {
  const int feasible = agree_with_trying_all({.memory = true}, 4000);
  CHECK(feasible > 500);
  CHECK(feasible < 3500);
}

TEST_CASE("memory limits with any in-flight counts equal exhaustive search") {
  CHECK(agree_with_trying_all({.memory = true, .any_in_flight = true}, 3000) > 500);
}

TEST_CASE("devices of different speed and memory equal exhaustive search") {
  CHECK(agree_with_trying_all({.memory = true, .any_in_flight = true, .speeds = true}, 3000) > 500);
}

TEST_CASE("border tensors larger than layers equal exhaustive search") {
  CHECK(agree_with_trying_all({.memory = true, .wide_borders = true}, 4000) > 500);
  CHECK(agree_with_trying_all({.memory = true, .any_in_flight = true, .wide_borders = true}, 3000) >
        500);
}

TEST_CASE("tied layers equal exhaustive search") {
  CHECK(agree_with_trying_all({.memory = true, .ties = true}, 3000) > 500);
  CHECK(agree_with_trying_all({.memory = true, .speeds = true, .ties = true}, 3000) > 500);
}

TEST_CASE("both ways of probing give the same answer") {
  std::mt19937_64 random(7);
  int greedy = 0;
  for (int i = 0; i < 2000; ++i) {
    ChainProblem problem = testing::random_chain(random, {.memory = true});
    const auto plain = partition_chain(problem);
    if (ChainCosts(problem).greedy_is_exact()) ++greedy;
    // With everything doubled one more byte on the last device changes nothing but the probing.
    for (ChainLayer& layer : problem.layers) layer.state *= 2, layer.activation *= 2;
    for (ChainLayer& layer : problem.layers) layer.workspace *= 2;
    for (std::int64_t& bytes : problem.border_bytes) bytes *= 2;
    for (ChainStage& stage : problem.stages) *stage.capacity *= 2;
    *problem.stages.back().capacity += 1;
    const auto varied = partition_chain(problem);
    REQUIRE(plain.has_value() == varied.has_value());
    if (plain) REQUIRE(plain->borders == varied->borders);
  }
  CHECK(greedy > 1000);
}

TEST_CASE("a long chain with memory limits is cut within its lower bound") {
  std::mt19937_64 random(3);
  ChainProblem problem;
  for (int i = 0; i < 10000; ++i) {
    const auto time = static_cast<std::int64_t>(1000 + random() % 9000);
    problem.layers.push_back({.time = time, .state = 100, .activation = 10});
  }
  problem.border_bytes.assign(10001, 5);
  for (int s = 0; s < 64; ++s) problem.stages.push_back({.capacity = 150000, .in_flight = 64 - s});
  const auto cut = partition_chain(problem);
  REQUIRE(cut.has_value());
  std::int64_t total = 0;
  for (const ChainLayer& layer : problem.layers) total += layer.time;
  CHECK(cut->bottleneck >= total / 64);
  for (int s = 0; s < 64; ++s) {
    CHECK(testing::stage_time(problem, cut->borders, s) <= cut->bottleneck);
    CHECK(testing::stage_memory_bytes(problem, cut->borders, s) <= 150000);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
