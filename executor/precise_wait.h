// Sleeping until a point in time, to within microseconds.
#pragma once

#include "executor/channel.h"

namespace headrace {

/// Sleeps until shortly before `deadline` and spins through the rest, at most `spin`. A larger
/// `spin` hides more of the system's wake-up time and costs a core for that long.
void wait_until(RunClock::time_point deadline, RunClock::duration spin);

/// Asks the system to wake the calling thread without slack (Linux rounds up to 50 us otherwise).
void use_precise_timers();

/// Seconds on the run clock since its epoch.
double seconds_since_epoch(RunClock::time_point time);

/// The run clock's unit for a time span.
RunClock::duration clock_duration(double seconds);

}  // namespace headrace
