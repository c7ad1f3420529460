// Schedules for tests: from text, and random ones that are valid.
#pragma once

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"

namespace headrace::testing {

inline Schedule schedule_of(std::string_view csv) {
  const auto schedule = schedule_from_csv(csv, "test");
  REQUIRE_MESSAGE(schedule.has_value(), (schedule ? "" : to_string(schedule.error())));
  return *schedule;
}

/// What a random schedule looks like.
struct RandomShape {
  int devices = 2;
  int stages_per_device = 1;
  int microbatches = 3;
  bool splits_backward = false;
};

/// Follows the dependencies and lets chance pick among the actions that could run: every order that
/// does not deadlock can come out, with stages on devices in any placement.
class RandomSchedule {
 public:
  RandomSchedule(const RandomShape& shape, unsigned seed) : shape_(shape), random_(seed) {
    schedule_.name = "random";
    schedule_.devices = shape.devices;
    schedule_.stages = shape.devices * shape.stages_per_device;
    schedule_.microbatches = shape.microbatches;
    for (int s = 0; s < schedule_.stages; ++s) {
      schedule_.device_of_stage.push_back(DeviceId{s % shape.devices});
    }
    std::shuffle(schedule_.device_of_stage.begin(), schedule_.device_of_stage.end(), random_);
    schedule_.rows.resize(static_cast<std::size_t>(shape.devices));
    for (int m = 0; m < shape.microbatches; ++m)
      ready_.push_back(action(ActionKind::kForward, 0, m));
  }

  Schedule make() {
    while (!ready_.empty()) {
      std::swap(ready_[random_() % ready_.size()], ready_.back());
      const Action next = ready_.back();
      ready_.pop_back();
      schedule_.rows[index_of(schedule_.device_of_stage[index_of(next.stage)])].push_back(next);
      add_followers(next);
    }
    return schedule_;
  }

 private:
  static Action action(ActionKind kind, int stage, int microbatch) {
    return {.kind = kind, .stage = StageId{stage}, .microbatch = MicrobatchId{microbatch}};
  }

  void add_followers(const Action& done) {
    const int s = number_of(done.stage);
    const int m = number_of(done.microbatch);
    const ActionKind back = shape_.splits_backward ? ActionKind::kInputGrad : ActionKind::kBackward;
    if (done.kind == ActionKind::kForward) {
      const bool last = s + 1 == schedule_.stages;
      ready_.push_back(last ? action(back, s, m) : action(ActionKind::kForward, s + 1, m));
    } else if (done.kind == back) {
      if (s > 0) ready_.push_back(action(back, s - 1, m));
      if (shape_.splits_backward) ready_.push_back(action(ActionKind::kWeightGrad, s, m));
    }
  }

  RandomShape shape_;
  std::mt19937 random_;
  Schedule schedule_;
  std::vector<Action> ready_;
};

}  // namespace headrace::testing
