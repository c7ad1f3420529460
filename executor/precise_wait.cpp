#include "executor/precise_wait.h"

#include <chrono>
#include <thread>

#include <sys/prctl.h>

namespace headrace {

void wait_until(RunClock::time_point deadline, RunClock::duration spin) {
  if (deadline - spin > RunClock::now()) std::this_thread::sleep_until(deadline - spin);
  while (RunClock::now() < deadline) {
  }
}

void use_precise_timers() {
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

double seconds_since_epoch(RunClock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

RunClock::duration clock_duration(double seconds) {
  return std::chrono::duration_cast<RunClock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace headrace
