// The event engine for schedules whose messages share links, block devices or wait for streams.
#pragma once

#include "core/result.h"
#include "simulator/communication.h"
#include "simulator/engine.h"
#include "simulator/simulate.h"

namespace headrace {

/// Times every action of a lowered schedule (every message between devices has its SEND and RECV)
/// in order of time, under `model`. With async semantics, unlimited streams, no shared resources
/// and no slowdown the times are those of `time_actions`.
/// A send or receive starts when its device reaches it and ends when the device goes on.
/// O(n log n) in actions, times the messages in flight where links are shared. Deterministic.
/// Fails with kDeadlock, the cycle named, when devices wait for one another.
Result<ActionTimes> time_events(const SimulationInput& input, const CommunicationModel& model);

}  // namespace headrace
