#include <algorithm>

#include "simulator/schedules/generators.h"

namespace headrace {

Result<Schedule> one_forward_one_backward_schedule(const ScheduleRequest& request) {
  if (auto ok = require_one_stage_per_device(request); !ok) return Failure(ok.error());
  Schedule schedule = empty_chain_schedule(request);
  for (int s = 0; s < request.stages; ++s) {
    std::vector<Action>& row = schedule.rows[static_cast<std::size_t>(s)];
    const auto add = [&row, s](ActionKind kind, int m) {
      row.push_back({.kind = kind, .stage = StageId{s}, .microbatch = MicrobatchId{m}});
    };
    const int warm_up = std::min(request.stages - 1 - s, request.microbatches);
    for (int m = 0; m < warm_up; ++m) add(ActionKind::kForward, m);
    for (int m = warm_up; m < request.microbatches; ++m) {
      add(ActionKind::kForward, m);
      add(ActionKind::kBackward, m - warm_up);
    }
    for (int m = request.microbatches - warm_up; m < request.microbatches; ++m) {
      add(ActionKind::kBackward, m);
    }
  }
  return schedule;
}

}  // namespace headrace
