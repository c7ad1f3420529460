// DualPipe and DualPipeV (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.2.1, and the
// DualPipe repository, 2025): forwards of one direction run at the same time as backwards of the
// other.
#include <fmt/core.h>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {
namespace {

/// The two stages of a device: micro-batches pass `down` on their way in, `up` on their way out.
struct StagePair {
  int down;
  int up;
};

/// The eight steps of DeepSeek's DualPipe (2024) on the r-th of `devices` from the end where
/// micro-batches enter and leave. DualPipeV folds one pipeline there; DualPipe has two folded ones,
/// each being the other's second half, and half the micro-batches enter at either end.
void fill_dual_pipe(std::vector<Action>& actions, StagePair stages, int devices, int r,
                    int microbatches) {
  RowBuilder row(actions);
  const auto [down, up] = stages;
  const int after = devices - 1 - r;
  for (int i = 0; i < 2 * after; ++i) row.forward(down);
  for (int i = 0; i < r + 1; ++i) {
    row.forward(down);
    row.forward(up);
  }
  for (int i = 0; i < after; ++i) {
    row.input_grad(up);
    row.weight_grad();
    row.forward(up);
  }
  for (int i = 0; i < microbatches - 2 * devices + r + 1; ++i) {
    if (i == 0 && r == devices - 1) {  // Apart, the first pair leaves the smaller bubble.
      row.forward(down);
      row.backward(up);
    } else {
      row.overlap(down, up);
    }
    row.overlap(up, down);
  }
  for (int i = 0; i < after; ++i) {
    row.backward(up);
    row.overlap(up, down);
  }
  // The second half of these backwards is split, so that their W can fill the drain.
  const int pairs = r + 1;
  for (int i = 0; i < 2 * pairs; ++i) {
    const int stage = i % 2 == 0 ? up : down;
    const bool split = i >= 2 * (pairs / 2) + (r % 2 == 0 ? 1 : 0);
    split ? row.input_grad(stage) : row.backward(stage);
  }
  for (int i = 0; i < after; ++i) {
    row.weight_grad();
    row.input_grad(down);
  }
  row.all_weight_grads();
}

Result<void> require_microbatches(const ScheduleRequest& request, const char* other) {
  const int least = 2 * request.devices;
  if (request.microbatches >= least) return {};
  return Failure({.code = ErrorCode::kInfeasible,
                  .what = fmt::format("{} needs at least 2 P = {} micro-batches, has {}",
                                      request.name, least, request.microbatches),
                  .where = "--micro-batches",
                  .fix = fmt::format("use --micro-batches {}, or --schedule {}", least, other)});
}

}  // namespace

Result<Schedule> dual_pipe_v_schedule(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 2); !ok) return Failure(ok.error());
  if (auto ok = require_microbatches(request, "zbv"); !ok) return Failure(ok.error());
  Schedule schedule = empty_v_schedule(request);
  for (int r = 0; r < request.devices; ++r) {
    fill_dual_pipe(schedule.rows[static_cast<std::size_t>(r)],
                   {.down = r, .up = 2 * request.devices - 1 - r}, request.devices, r,
                   request.microbatches);
  }
  return schedule;
}

Result<Schedule> dual_pipe_schedule(const ScheduleRequest& request) {
  if (auto ok = require_even_devices(request); !ok) return Failure(ok.error());
  if (auto ok = require_microbatches(request, "chimera"); !ok) return Failure(ok.error());
  if (request.microbatches % 2 != 0) {
    return Failure(
        {.code = ErrorCode::kInfeasible,
         .what = fmt::format("dualpipe feeds half of the micro-batches from either end: {} is odd",
                             request.microbatches),
         .where = "--micro-batches",
         .fix = fmt::format("use --micro-batches {}", request.microbatches + 1)});
  }
  Schedule schedule = empty_two_way_schedule(request);
  const int last = request.devices - 1;
  for (int r = 0; r <= last; ++r) {
    const StagePair pair = {.down = r, .up = request.devices + last - r};
    const bool near = 2 * r < last;
    fill_dual_pipe(schedule.rows[static_cast<std::size_t>(r)],
                   near ? pair : StagePair{.down = pair.up, .up = pair.down}, request.devices / 2,
                   near ? r : last - r, request.microbatches / 2);
  }
  number_second_pipeline(schedule);
  return schedule;
}

}  // namespace headrace
