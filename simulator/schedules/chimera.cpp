// Chimera (Li and Hoefler, "Chimera: efficiently training large-scale neural networks with
// bidirectional pipelines", SC 2021, section 3.1): two replicas of the model in opposite
// directions, each with P / 2 micro-batches at a time.
#include <algorithm>
#include <tuple>
#include <vector>

#include "simulator/schedules/generators.h"

namespace headrace {
namespace {

/// An action and the slot in which the paper's equal slots have it.
struct Slot {
  int time;
  Action action;
};

/// One replica's actions on its stage `depth`, counted from where its micro-batches enter: units of
/// P / 2 micro-batches, 2 P slots apart; within a unit every second slot one more enters.
void add_slots(std::vector<Slot>& slots, const ScheduleRequest& request, int depth, int stage,
               MicrobatchRange range) {
  const int devices = request.devices;
  for (int m = range.first; m < range.end; ++m) {
    const int index = m - range.first;
    const int unit = 2 * devices * (index / (devices / 2));
    const int entry = unit + 2 * (index % (devices / 2));
    const Action forward = {
        .kind = ActionKind::kForward, .stage = StageId{stage}, .microbatch = MicrobatchId{m}};
    Action backward = forward;
    backward.kind = ActionKind::kBackward;
    slots.push_back({.time = entry + depth, .action = forward});
    slots.push_back({.time = entry + 2 * devices - 1 - depth, .action = backward});
  }
}

}  // namespace

Result<Schedule> chimera_schedule(const ScheduleRequest& request) {
  if (auto ok = require_even_devices(request); !ok) return Failure(ok.error());
  Schedule schedule = empty_two_way_schedule(request);
  for (int r = 0; r < request.devices; ++r) {
    std::vector<Slot> slots;
    const int depth = request.devices - 1 - r;
    const int second = request.devices + depth;
    add_slots(slots, request, r, r, microbatches_of(schedule, r));
    add_slots(slots, request, depth, second, microbatches_of(schedule, second));
    std::ranges::sort(slots, {}, &Slot::time);
    for (const Slot& slot : slots) {
      schedule.rows[static_cast<std::size_t>(r)].push_back(slot.action);
    }
  }
  return schedule;
}

}  // namespace headrace
