// The event engine: computes when every action of a schedule starts and ends.
#pragma once

#include <cstddef>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "simulator/simulate.h"

namespace headrace {

/// Start and end of every action, all rows behind one another; sends and receives take no time of
/// the device.
struct ActionTimes {
  std::vector<std::size_t>
      row_begin;  ///< Size devices + 1: row r is [row_begin[r], row_begin[r+1]).
  std::vector<Seconds> start;
  std::vector<Seconds> end;
};

/// Fails with kBadInput where the schedule has I and W and a stage has no times for them.
Result<void> check_costs(const SimulationInput& input);

/// How long a compute action takes: its own duration where `input.durations` has one, else its
/// stage's; 0 for I and W whose stage has no times for them.
Seconds action_duration(const SimulationInput& input, const Action& action);

/// Times every action of a valid schedule (`validate` is the caller's duty). A device runs its row
/// in order and waits where a message is missing; since nothing else is shared, the times do not
/// depend on the order in which devices are looked at.
/// O(actions) time and memory. Fails with kBadInput where I and W times are missing, with
/// kDeadlock when some device waits for ever; the cycle is named.
Result<ActionTimes> time_actions(const SimulationInput& input);

/// End of the last compute action, without keeping the times.
Result<Seconds> time_makespan(const SimulationInput& input);

}  // namespace headrace
