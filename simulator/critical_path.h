// The chain of actions that sets the makespan, or the start of any one action.
#pragma once

#include <vector>

#include "core/schedule.h"
#include "core/simulation.h"
#include "simulator/engine.h"

namespace headrace {

/// Walks back from the compute action that ends last: an action started either because the one
/// before it on its device ended, or because the message that it needed arrived; on equal times the
/// device's own order is named. Compute actions only, in the order of time. O(actions).
std::vector<Action> critical_path(const Schedule& schedule, const ActionTimes& times);

/// The same walk back from `action`, with the cause of every start; sends and receives that held a
/// device up are steps too. Empty where the schedule has no such action. O(actions).
std::vector<CausalStep> causal_chain(const Schedule& schedule, const ActionTimes& times,
                                     const Action& action);

}  // namespace headrace
