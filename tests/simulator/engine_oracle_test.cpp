// The engine against a slow, plain method: relax all constraints until nothing changes.
#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "simulator/engine.h"
#include "simulator/simulate.h"
#include "tests/support/long_tests.h"
#include "tests/support/random_schedule.h"

namespace headrace {
namespace {

using testing::random_input;

/// Bellman-Ford over (start >= end of what must come before): the least start of every action.
std::vector<double> relaxed_starts(const SimulationInput& input) {
  struct Node {
    Action action;
    std::size_t device;
    bool first;
  };
  std::vector<Node> nodes;
  for (std::size_t d = 0; d < input.schedule.rows.size(); ++d) {
    for (const Action& action : input.schedule.rows[d]) {
      nodes.push_back({action, d, &action == input.schedule.rows[d].data()});
    }
  }
  std::vector<double> start(nodes.size(), 0);
  const auto end = [&](std::size_t i) {
    return start[i] + action_duration(input, nodes[i].action).value();
  };
  const auto feeds = [&](const Node& from, const Node& to) -> double {
    const int a = number_of(from.action.stage);
    const int b = number_of(to.action.stage);
    if (from.action.microbatch != to.action.microbatch) return -1;
    const bool local = from.device == to.device;
    const bool to_chain =
        to.action.kind == ActionKind::kBackward || to.action.kind == ActionKind::kInputGrad;
    const bool from_chain =
        from.action.kind == ActionKind::kBackward || from.action.kind == ActionKind::kInputGrad;
    if (from.action.kind == ActionKind::kForward && to.action.kind == ActionKind::kForward &&
        b == a + 1) {
      return local ? 0 : input.hop_forward[static_cast<std::size_t>(a)].value();
    }
    if (from_chain && to_chain && b == a - 1) {
      return local ? 0 : input.hop_backward[static_cast<std::size_t>(b)].value();
    }
    return -1;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      double least = nodes[i].first ? 0 : end(i - 1);
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        const double hop = feeds(nodes[j], nodes[i]);
        if (hop >= 0) least = std::max(least, end(j) + hop);
      }
      if (least > start[i]) {
        start[i] = least;
        changed = true;
      }
    }
  }
  return start;
}

TEST_SUITE_BEGIN("simulator/engine");

TEST_CASE("the engine agrees with relaxation on random schedules") {
  std::mt19937 random(20261201);
  for (int round = 0; round < (testing::long_tests() ? 100'000 : 2'000); ++round) {
    const SimulationInput input = random_input(random);
    REQUIRE(validate(input.schedule).has_value());
    const auto times = time_actions(input);
    REQUIRE(times.has_value());
    const std::vector<double> expected = relaxed_starts(input);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE_MESSAGE(times->start[i].value() == expected[i], "round " << round);
    }
  }
}

TEST_CASE("swapping two actions of a row never loses one and may deadlock but never hangs") {
  std::mt19937 random(7);
  int deadlocks = 0;
  for (int round = 0; round < 2000; ++round) {
    SimulationInput input = random_input(random);
    auto& row = input.schedule.rows[random() % input.schedule.rows.size()];
    std::swap(row[random() % row.size()], row[random() % row.size()]);
    const auto outcome = simulate(input);
    if (outcome) {
      std::size_t actions = 0;
      for (const auto& each : input.schedule.rows) actions += each.size();
      CHECK(outcome->timeline.events.size() == actions);
    } else if (outcome.error().code == ErrorCode::kDeadlock) {
      ++deadlocks;
      CHECK_FALSE(outcome.error().cycle.empty());
    } else {
      CHECK(outcome.error().code == ErrorCode::kBadInput);
    }
  }
  CHECK(deadlocks > 20);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
