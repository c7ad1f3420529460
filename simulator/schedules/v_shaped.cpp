// Schedules whose device r holds stage r (`down`) and stage 2P - 1 - r (`up`).
#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {
namespace {

void drop_padding(std::vector<Action>& row, int microbatches) {
  std::erase_if(row, [microbatches](const Action& action) {
    return number_of(action.microbatch) >= microbatches;
  });
}

/// Qi et al., NeurIPS'24, "Pipeline Parallelism with Controllable Memory", the V schedule. The
/// pattern is complete from 2P - 1 micro-batches on; below, those that do not exist are left out.
void fill_zero_bubble_v(std::vector<Action>& actions, int devices, int r, int microbatches) {
  RowBuilder row(actions);
  const int down = r;
  const int up = 2 * devices - 1 - r;
  const int padded = std::max(microbatches, 2 * devices - 1);
  const auto whole = [&row](int stage) {
    row.input_grad(stage);
    row.weight_grad();
  };
  for (int i = 0; i < 2 * (devices - r) - 1; ++i) row.forward(down);
  for (int i = 0; i < r; ++i) {
    row.forward(up);
    row.forward(down);
  }
  for (int i = 0; i < devices - r; ++i) {
    row.forward(up);
    whole(up);
  }
  while (row.forwards(up) < row.forwards(down) || row.forwards(down) < padded) {
    if (row.forwards(down) < padded) row.forward(down);
    whole(down);
    row.forward(up);
    whole(up);
  }
  // Cool-down: r pairs of input gradients, then the rest of `down`, each with its own W at once;
  // the delayed W of `up` and then of `down` come last.
  const int delayed = row.backwards(down);
  for (int i = 0; i < r; ++i) {
    row.add(ActionKind::kInputGrad, down, delayed + i);
    row.add(ActionKind::kInputGrad, up, row.backwards(up) + i);
  }
  int next_weight = delayed;
  for (int i = 0; i < devices - r; ++i) {
    row.add(ActionKind::kInputGrad, down, delayed + r + i);
    row.add(ActionKind::kWeightGrad, down, next_weight++);
  }
  for (int i = 0; i < r; ++i) row.add(ActionKind::kWeightGrad, up, row.backwards(up) + i);
  for (; next_weight < padded; ++next_weight) {
    row.add(ActionKind::kWeightGrad, down, next_weight);
  }
  drop_padding(actions, microbatches);
}

}  // namespace

Result<Schedule> zero_bubble_v_schedule(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 2); !ok) return Failure(ok.error());
  Schedule schedule = empty_v_schedule(request);
  for (int r = 0; r < request.devices; ++r) {
    fill_zero_bubble_v(schedule.rows[static_cast<std::size_t>(r)], request.devices, r,
                       request.microbatches);
  }
  return schedule;
}

}  // namespace headrace
