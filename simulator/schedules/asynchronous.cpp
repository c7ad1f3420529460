// PipeDream (Narayanan et al., SOSP 2019, section 3.2) and PipeDream-2BW (ICML 2021, section 3.1):
// 1F1B that is never drained; versions of the weights keep forward and backward together.
#include <algorithm>

#include "simulator/schedules/generators.h"

namespace headrace {
namespace {

Result<Schedule> without_flush(const ScheduleRequest& request) {
  auto schedule = one_forward_one_backward_schedule(request);
  if (schedule) schedule->flushes = false;
  return schedule;
}

}  // namespace

Result<Schedule> pipe_dream_schedule(const ScheduleRequest& request) {
  auto schedule = without_flush(request);
  if (!schedule) return schedule;
  for (int s = 0; s < request.stages; ++s) {
    schedule->weight_versions.push_back(std::min(request.stages - s, request.microbatches));
  }
  return schedule;
}

Result<Schedule> pipe_dream_double_buffered_schedule(const ScheduleRequest& request) {
  auto schedule = without_flush(request);
  if (!schedule) return schedule;
  schedule->weight_versions.assign(static_cast<std::size_t>(request.stages), 2);
  return schedule;
}

}  // namespace headrace
