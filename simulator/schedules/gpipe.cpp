#include "simulator/schedules/generators.h"

namespace headrace {

Result<Schedule> gpipe_schedule(const ScheduleRequest& request) {
  if (auto ok = require_one_stage_per_device(request); !ok) return Failure(ok.error());
  Schedule schedule = empty_chain_schedule(request);
  for (int s = 0; s < request.stages; ++s) {
    std::vector<Action>& row = schedule.rows[static_cast<std::size_t>(s)];
    for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
      for (int m = 0; m < request.microbatches; ++m) {
        row.push_back({.kind = kind, .stage = StageId{s}, .microbatch = MicrobatchId{m}});
      }
    }
  }
  return schedule;
}

}  // namespace headrace
