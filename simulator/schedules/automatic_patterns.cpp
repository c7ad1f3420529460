#include "simulator/schedules/automatic_patterns.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "simulator/schedule_catalogue.h"

namespace headrace {
namespace {

Action action(ActionKind kind, std::size_t stage, int microbatch) {
  return {.kind = kind,
          .stage = StageId{static_cast<int>(stage)},
          .microbatch = MicrobatchId{microbatch}};
}

/// Device r starts `warm_up(r)` forwards, then takes F and I in turn.
template <typename WarmUp>
Orders with_warm_up(const PipelineTask& task, WarmUp warm_up_of) {
  Orders orders(task.device_of_stage.size());
  for (std::size_t r = 0; r < orders.size(); ++r) {
    const int warm_up = std::min(task.microbatches, static_cast<int>(warm_up_of(r)));
    for (int step = 0; step < task.microbatches + warm_up; ++step) {
      if (step < task.microbatches) orders[r].push_back(action(ActionKind::kForward, r, step));
      if (step >= warm_up) {
        orders[r].push_back(action(ActionKind::kInputGrad, r, step - warm_up));
      }
    }
  }
  return orders;
}

/// How many more forwards of each device fit into the wait from its first output to the first
/// gradient back.
std::vector<double> bridging_forwards(const PipelineTask& task) {
  const ScheduleCosts& costs = task.costs;
  std::vector<double> forwards(task.device_of_stage.size());
  double wait = 0;
  for (std::size_t s = forwards.size() - 1; s-- > 0;) {
    wait += (costs.hop_forward[s] + costs.forward[s + 1] + costs.input_grad[s + 1] +
             costs.hop_backward[s])
                .value();
    const double one = costs.forward[s].value();
    const double all = task.microbatches;
    forwards[s] = one > 0 ? std::min(wait / one, all) : all;
  }
  return forwards;
}

/// Forwards beside the first that a device's memory holds.
double most_forwards(const PipelineTask& task, std::size_t device) {
  if (task.limit.empty()) return task.microbatches;
  return std::max(0.0, std::floor(task.limit[device] / task.costs.activation[device]) - 1);
}

}  // namespace

bool is_folded_once(const PipelineTask& task) {
  const std::size_t stages = task.device_of_stage.size();
  if (stages != 2 * static_cast<std::size_t>(task.devices)) return false;
  for (std::size_t s = 0; s < stages; ++s) {
    if (task.device_of_stage[s] != task.device_of_stage[stages - 1 - s]) return false;
  }
  return true;
}

std::vector<Orders> known_orders(const PipelineTask& task) {
  std::vector<Orders> orders;
  if (task.device_of_stage.size() == static_cast<std::size_t>(task.devices)) {
    const std::vector<double> bridging = bridging_forwards(task);
    for (const auto& [share, more] : {std::pair{1.0, 0.0}, {1.0, 1.0}, {0.98, 0.5}}) {
      orders.push_back(with_warm_up(task, [&](std::size_t r) {
        return std::min(share * bridging[r] + more, most_forwards(task, r));
      }));
    }
    for (const double slope : {1.0, 2.25, 2.5, 2.0, 1.5, 3.0}) {
      for (const double base : {0.0, 1.0}) {
        orders.push_back(with_warm_up(task, [&](std::size_t r) {
          return base + slope * static_cast<double>(task.devices - 1) -
                 slope * static_cast<double>(r);
        }));
      }
    }
  } else if (is_folded_once(task)) {
    const auto folded = make_schedule({.name = "zbv",
                                       .devices = task.devices,
                                       .stages = 2 * task.devices,
                                       .microbatches = task.microbatches});
    if (folded) orders.push_back(folded->rows);
  }
  return orders;
}

std::vector<FoldedPattern> folded_patterns() {
  std::vector<FoldedPattern> patterns;
  for (int a = 1; a <= 4; ++a) {
    for (int b = 1; b <= 4; ++b) {
      for (int c = 1; c <= 4; ++c) {
        for (int d = 1; d <= 4; ++d) {
          patterns.push_back(
              {.forward_down = a, .forward_up = b, .backward_down = c, .backward_up = d});
        }
      }
    }
  }
  return patterns;
}

Orders pattern_orders(const PipelineTask& task, const FoldedPattern& pattern) {
  constexpr std::int64_t kPeriod = 6;
  const auto devices = static_cast<std::size_t>(task.devices);
  const std::int64_t hops = task.devices - 1;
  struct Slot {
    std::int64_t time;
    Action action;
  };
  // Where each way of a micro-batch starts; the turns at the ends take one slot.
  const std::int64_t up = hops * pattern.forward_down + 1;
  const std::int64_t back = up + hops * pattern.forward_up + 1;
  const std::int64_t home = back + hops * pattern.backward_down + 1;
  Orders orders(devices);
  std::vector<Slot> slots;
  for (std::size_t r = 0; r < devices; ++r) {
    slots.clear();
    const auto down_hops = static_cast<std::int64_t>(r);
    const std::int64_t up_hops = hops - down_hops;
    const std::size_t far = 2 * devices - 1 - r;
    for (int m = 0; m < task.microbatches; ++m) {
      const std::int64_t entry = kPeriod * m;
      slots.push_back(
          {entry + down_hops * pattern.forward_down, action(ActionKind::kForward, r, m)});
      slots.push_back({entry + back + down_hops * pattern.backward_down,
                       action(ActionKind::kInputGrad, far, m)});
      slots.push_back(
          {entry + up + up_hops * pattern.forward_up, action(ActionKind::kForward, far, m)});
      slots.push_back(
          {entry + home + up_hops * pattern.backward_up, action(ActionKind::kInputGrad, r, m)});
    }
    std::ranges::stable_sort(slots, {}, &Slot::time);
    for (const Slot& slot : slots) orders[r].push_back(slot.action);
  }
  return orders;
}

}  // namespace headrace
