#include <algorithm>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"
#include "simulator/schedules/rows_in_parallel.h"

namespace headrace {
namespace {

/// `per_hop` forwards are started for every stage that comes after this one.
Result<Schedule> with_warm_up(const ScheduleRequest& request, int per_hop) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return Failure(ok.error());
  Schedule schedule = empty_loop_schedule(request);
  fill_rows(schedule, [&](int s) {
    RowBuilder row(schedule.rows[static_cast<std::size_t>(s)]);
    const int warm_up = std::min(per_hop * (request.stages - 1 - s), request.microbatches);
    for (int m = 0; m < warm_up; ++m) row.forward(s);
    for (int m = warm_up; m < request.microbatches; ++m) {
      row.forward(s);
      row.backward(s);
    }
    for (int m = 0; m < warm_up; ++m) row.backward(s);
  });
  return schedule;
}

}  // namespace

Result<Schedule> one_forward_one_backward_schedule(const ScheduleRequest& request) {
  return with_warm_up(request, 1);
}

Result<Schedule> eager_one_forward_one_backward_schedule(const ScheduleRequest& request) {
  return with_warm_up(request, 2);
}

}  // namespace headrace
