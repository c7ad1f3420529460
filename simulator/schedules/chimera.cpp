// Chimera (Li and Hoefler, "Chimera: efficiently training large-scale neural networks with
// bidirectional pipelines", SC 2021, section 3.1): two replicas of the model in opposite
// directions, each with P / 2 micro-batches at a time.
#include "simulator/schedules/generators.h"
#include "simulator/schedules/slot_rows.h"

namespace headrace {
namespace {

/// One replica's actions on a stage that is `depth` stages behind where its micro-batches enter:
/// units of P / 2 micro-batches, 2 P slots apart; within a unit every second slot one more enters.
void add_slots(SlotRow& slots, int devices, int depth, int stage, MicrobatchRange range) {
  for (int m = range.first; m < range.end; ++m) {
    const std::int64_t index = m - range.first;
    const std::int64_t unit = 2 * devices * (index / (devices / 2));
    const std::int64_t entry = unit + 2 * (index % (devices / 2));
    slots.add(entry + depth, ActionKind::kForward, stage, m);
    slots.add(entry + 2 * devices - 1 - depth, ActionKind::kBackward, stage, m);
  }
}

}  // namespace

Result<Schedule> chimera_schedule(const ScheduleRequest& request) {
  if (auto ok = require_even_devices(request); !ok) return Failure(ok.error());
  Schedule schedule = empty_two_way_schedule(request);
  for (int r = 0; r < request.devices; ++r) {
    SlotRow slots;
    const int depth = request.devices - 1 - r;
    const int second = request.devices + depth;
    add_slots(slots, request.devices, r, r, microbatches_of(schedule, r));
    add_slots(slots, request.devices, depth, second, microbatches_of(schedule, second));
    slots.write(schedule.rows[static_cast<std::size_t>(r)]);
  }
  return schedule;
}

}  // namespace headrace
