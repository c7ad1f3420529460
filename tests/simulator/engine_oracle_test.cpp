// The engine against a slow, plain method: relax all constraints until nothing changes.
#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include <doctest/doctest.h>

#include "simulator/engine.h"
#include "simulator/simulate.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

/// A valid schedule by random play: any device may run any action whose inputs exist.
Schedule random_schedule(std::mt19937& random, int devices, int stages, int microbatches,
                         bool split) {
  Schedule schedule{
      .name = "random", .stages = stages, .devices = devices, .microbatches = microbatches};
  schedule.rows.resize(static_cast<std::size_t>(devices));
  for (int s = 0; s < stages; ++s) {
    schedule.device_of_stage.push_back(
        DeviceId{s < devices ? s : static_cast<int>(random() % static_cast<unsigned>(devices))});
  }
  std::map<std::tuple<int, int, ActionKind>, bool> done;
  std::vector<Action> open;
  for (int s = 0; s < stages; ++s) {
    for (int m = 0; m < microbatches; ++m) {
      const auto add = [&](ActionKind kind) {
        open.push_back({.kind = kind, .stage = StageId{s}, .microbatch = MicrobatchId{m}});
      };
      add(ActionKind::kForward);
      const bool split_here = split && random() % 2 == 0;
      add(split_here ? ActionKind::kInputGrad : ActionKind::kBackward);
      if (split_here) add(ActionKind::kWeightGrad);
    }
  }
  const auto is_done = [&](int s, int m, ActionKind kind) { return done.contains({s, m, kind}); };
  while (!open.empty()) {
    const std::size_t pick = random() % open.size();
    const Action action = open[pick];
    const int s = number_of(action.stage);
    const int m = number_of(action.microbatch);
    bool possible = true;
    if (action.kind == ActionKind::kForward) {
      possible = s == 0 || is_done(s - 1, m, ActionKind::kForward);
    } else if (action.kind == ActionKind::kWeightGrad) {
      possible = is_done(s, m, ActionKind::kInputGrad);
    } else {
      possible = is_done(s, m, ActionKind::kForward) &&
                 (s + 1 == stages || is_done(s + 1, m, ActionKind::kBackward) ||
                  is_done(s + 1, m, ActionKind::kInputGrad));
    }
    if (!possible) continue;
    done[{s, m, action.kind}] = true;
    schedule.rows[index_of(schedule.device_of_stage[index_of(action.stage)])].push_back(action);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  return schedule;
}

SimulationInput random_input(std::mt19937& random) {
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const int devices = between(1, 4);
  SimulationInput input{.schedule = random_schedule(random, devices, devices + between(0, 3),
                                                    between(1, 5), between(0, 1) == 1)};
  for (int s = 0; s < input.schedule.stages; ++s) {
    input.stages.push_back({.forward = Seconds(between(0, 9)),
                            .backward = Seconds(between(0, 9)),
                            .input_grad = Seconds(between(0, 9)),
                            .weight_grad = Seconds(between(0, 9))});
    input.hop_forward.push_back(Seconds(between(0, 3)));
    input.hop_backward.push_back(Seconds(between(0, 3)));
  }
  return input;
}

double duration_of(const SimulationInput& input, const Action& action) {
  const StageCost& cost = input.stages[index_of(action.stage)];
  switch (action.kind) {
    case ActionKind::kForward:
      return cost.forward.value();
    case ActionKind::kBackward:
      return cost.backward.value();
    case ActionKind::kInputGrad:
      return cost.input_grad->value();
    default:
      return cost.weight_grad->value();
  }
}

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
  const auto end = [&](std::size_t i) { return start[i] + duration_of(input, nodes[i].action); };
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

TEST_CASE("the engine agrees with relaxation on 2000 random schedules") {
  std::mt19937 random(20261201);
  for (int round = 0; round < 2000; ++round) {
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
