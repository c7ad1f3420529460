// Short ways to write simulator inputs in tests.
#pragma once

#include <string>
#include <vector>

#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"

namespace headrace::testing {

/// One value for all stages, or one per stage.
struct UniformCosts {
  double forward = 1;
  double backward = 2;
  double hop = 0;
};

inline SimulationInput input_for(Schedule schedule, const std::vector<double>& forward,
                                 const std::vector<double>& backward, double hop = 0) {
  SimulationInput input{.schedule = std::move(schedule)};
  const auto stages = static_cast<std::size_t>(input.schedule.stages);
  for (std::size_t s = 0; s < stages; ++s) {
    input.stages.push_back({.forward = Seconds(forward[s]), .backward = Seconds(backward[s])});
  }
  input.hop_forward.assign(stages, Seconds(hop));
  input.hop_backward.assign(stages, Seconds(hop));
  return input;
}

/// A named schedule with one stage per device and equal stages; aborts the test when undefined.
inline SimulationInput uniform_input(const std::string& name, int stages, int microbatches,
                                     const UniformCosts& costs = {}) {
  auto schedule = make_schedule(
      {.name = name, .devices = stages, .stages = stages, .microbatches = microbatches});
  const std::vector<double> forward(static_cast<std::size_t>(stages), costs.forward);
  const std::vector<double> backward(static_cast<std::size_t>(stages), costs.backward);
  return input_for(schedule.value(), forward, backward, costs.hop);
}

}  // namespace headrace::testing
