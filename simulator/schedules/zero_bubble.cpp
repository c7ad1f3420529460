#include <algorithm>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"
#include "simulator/schedules/rows_in_parallel.h"

namespace headrace {
namespace {

/// Micro-batches per round: PyTorch runs max(1, M / P) rounds of equal size.
Result<int> round_size(const ScheduleRequest& request) {
  const int rounds = std::max(1, request.microbatches / request.devices);
  if (request.microbatches % rounds == 0) return request.microbatches / rounds;
  return Failure(
      {.code = ErrorCode::kInfeasible,
       .what =
           fmt::format("{} needs rounds of equal size: {} micro-batches in {} rounds leave {}",
                       request.name, request.microbatches, rounds, request.microbatches % rounds),
       .where = "--micro-batches",
       .fix = fmt::format("use --micro-batches {}", request.microbatches / rounds * rounds),
       .why = fmt::format("rounds = max(1, M / P) = max(1, {} / {}) = {}", request.microbatches,
                          request.devices, rounds)});
}

/// How a row deviates from plain interleaving.
struct RowShape {
  int chunks = 1;
  int round = 1;    ///< Micro-batches per round.
  int warm_up = 0;  ///< Forwards before the first I.
  int delay = 0;    ///< I that W stays behind.
};

/// The row of device r: a warm-up of forwards, then F and I in turn, then the remaining I; each I
/// but the first `delay` is followed by the W of as many actions before.
void fill_row(RowBuilder row, const ScheduleRequest& request, int r, const RowShape& shape) {
  const int chunks = shape.chunks;
  const int round = shape.round;
  const int total = request.microbatches * chunks;
  const int warm_up = std::min(shape.warm_up, total);
  const auto chunk_of = [&](int step) { return step / round % chunks; };
  for (int step = 0; step < total + warm_up; ++step) {
    if (step < total) row.forward(chunk_of(step) * request.devices + r);
    if (step < warm_up) continue;
    row.input_grad((chunks - 1 - chunk_of(step - warm_up)) * request.devices + r);
    if (step - warm_up >= shape.delay) row.weight_grad();
  }
  row.all_weight_grads();
}

}  // namespace

Result<Schedule> interleaved_zero_bubble_schedule(const ScheduleRequest& request) {
  const auto chunks = even_stages_per_device(request);
  if (!chunks) return Failure(chunks.error());
  const auto round = round_size(request);
  if (!round) return Failure(round.error());
  Schedule schedule = empty_loop_schedule(request);
  fill_rows(schedule, [&](int r) {
    fill_row(RowBuilder(schedule.rows[static_cast<std::size_t>(r)]), request, r,
             {.chunks = *chunks,
              .round = *round,
              .warm_up = (*chunks - 1) * *round + request.devices - 1 - r,
              .delay = r});
  });
  return schedule;
}

Result<Schedule> zero_bubble_h1_schedule(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return Failure(ok.error());
  Schedule schedule = empty_loop_schedule(request);
  fill_rows(schedule, [&](int r) {
    fill_row(RowBuilder(schedule.rows[static_cast<std::size_t>(r)]), request, r,
             {.round = request.microbatches, .warm_up = request.devices - 1 - r, .delay = r});
  });
  return schedule;
}

Result<Schedule> zero_bubble_h2_schedule(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return Failure(ok.error());
  Schedule schedule = empty_loop_schedule(request);
  fill_rows(schedule, [&](int r) {
    fill_row(RowBuilder(schedule.rows[static_cast<std::size_t>(r)]), request, r,
             {.round = request.microbatches,
              .warm_up = 2 * (request.devices - 1 - r) + 1,
              .delay = 2 * r});
  });
  return schedule;
}

}  // namespace headrace
