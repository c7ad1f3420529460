// Random valid schedules and costs, from a seed.
#pragma once

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "simulator/simulate.h"

namespace headrace::testing {

/// Plays at random: any device may run any action whose inputs exist. Stage s stands on device s
/// for the first devices, elsewhere at random.
inline Schedule random_schedule(std::mt19937& random, int devices, int stages, int microbatches,
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

inline int between(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

/// Up to 4 devices, 7 stages, 5 micro-batches, whole-number times, sometimes a time per action.
inline SimulationInput random_input(std::mt19937& random) {
  const int devices = between(random, 1, 4);
  const int stages = devices + between(random, 0, 3);
  const int microbatches = between(random, 1, 5);
  SimulationInput input{.schedule = random_schedule(random, devices, stages, microbatches,
                                                    between(random, 0, 1) == 1)};
  for (int s = 0; s < input.schedule.stages; ++s) {
    input.stages.push_back({.forward = Seconds(between(random, 0, 9)),
                            .backward = Seconds(between(random, 0, 9)),
                            .input_grad = Seconds(between(random, 0, 9)),
                            .weight_grad = Seconds(between(random, 0, 9))});
    input.hop_forward.push_back(Seconds(between(random, 0, 3)));
    input.hop_backward.push_back(Seconds(between(random, 0, 3)));
  }
  for (auto& durations : input.durations) {
    if (random() % 4 != 0) continue;
    for (int i = 0; i < stages * microbatches; ++i) {
      durations.push_back(Seconds(between(random, 0, 9)));
    }
  }
  return input;
}

}  // namespace headrace::testing
