// 1F1B whose steady state runs F of one micro-batch at the same time as B of another (Megatron-LM's
// overlap_moe_expert_parallel_comm; one more forward in the warm-up makes the pairs independent).
#include <algorithm>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {

Result<Schedule> overlapped_schedule(const ScheduleRequest& request) {
  const auto chunks = even_stages_per_device(request);
  if (!chunks) return Failure(chunks.error());
  // With one stage per device there is nothing to take turns on.
  const auto group = *chunks == 1 ? Result<int>(request.microbatches) : interleaving_group(request);
  if (!group) return Failure(group.error());
  Schedule schedule = empty_loop_schedule(request);
  const std::vector<GroupedStep> steps = grouped_steps(request.microbatches, *chunks, *group);
  const int total = static_cast<int>(steps.size());
  for (int r = 0; r < request.devices; ++r) {
    std::vector<Action>& actions = schedule.rows[static_cast<std::size_t>(r)];
    RowBuilder row(actions);
    const int warm_up = std::min(2 * (request.devices - 1 - r) + (*chunks - 1) * *group + 1, total);
    for (int k = 0; k < total + warm_up; ++k) {
      if (k < total) {
        const GroupedStep& step = steps[static_cast<std::size_t>(k)];
        row.add(ActionKind::kForward, step.chunk * request.devices + r, step.microbatch);
      }
      if (k < warm_up) continue;
      if (k < total) actions.back().overlaps_next = true;
      const GroupedStep& step = steps[static_cast<std::size_t>(k - warm_up)];
      row.add(ActionKind::kBackward, (*chunks - 1 - step.chunk) * request.devices + r,
              step.microbatch);
    }
  }
  return schedule;
}

}  // namespace headrace
