#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {
namespace {

Result<Schedule> all_forwards_then_backwards(const ScheduleRequest& request, bool last_first) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return Failure(ok.error());
  Schedule schedule = empty_loop_schedule(request);
  const int microbatches = request.microbatches;
  for (int s = 0; s < request.stages; ++s) {
    RowBuilder row(schedule.rows[static_cast<std::size_t>(s)]);
    for (int m = 0; m < microbatches; ++m) row.forward(s);
    for (int m = 0; m < microbatches; ++m) {
      row.add(ActionKind::kBackward, s, last_first ? microbatches - 1 - m : m);
    }
  }
  return schedule;
}

}  // namespace

Result<Schedule> gpipe_schedule(const ScheduleRequest& request) {
  return all_forwards_then_backwards(request, /*last_first=*/false);
}

Result<Schedule> gpipe_lifo_schedule(const ScheduleRequest& request) {
  return all_forwards_then_backwards(request, /*last_first=*/true);
}

Result<Schedule> forward_only_schedule(const ScheduleRequest& request) {
  if (auto per_device = even_stages_per_device(request); !per_device) {
    return Failure(per_device.error());
  }
  Schedule schedule = empty_loop_schedule(request);
  for (int m = 0; m < request.microbatches; ++m) {
    for (int s = 0; s < request.stages; ++s) {
      RowBuilder(schedule.rows[index_of(schedule.device_of_stage[static_cast<std::size_t>(s)])])
          .add(ActionKind::kForward, s, m);
    }
  }
  return schedule;
}

}  // namespace headrace
