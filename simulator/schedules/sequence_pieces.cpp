// Seq1F1B (Sun et al., "Seq1F1B: Efficient Sequence-Level Pipeline Parallelism", 2024, section 3):
// every micro-batch in k pieces of its sequence, 1F1B over the pieces.
#include <algorithm>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {

Result<Schedule> sequence_pieces_schedule(const ScheduleRequest& request) {
  if (auto ok = require_stages_per_device(request, 1); !ok) return Failure(ok.error());
  const auto pieces = positive_parameter(request, "pieces", 4);
  if (!pieces) return Failure(pieces.error());
  ScheduleRequest in_pieces = request;
  if (auto ok = multiply_microbatches(in_pieces, *pieces); !ok) return Failure(ok.error());
  Schedule schedule = empty_loop_schedule(in_pieces);
  schedule.pieces = *pieces;
  const int total = in_pieces.microbatches;
  // Later pieces attend to earlier ones, so their gradients come first.
  const auto piece_of_backward = [&](int step) {
    return step / *pieces * *pieces + *pieces - 1 - step % *pieces;
  };
  for (int s = 0; s < request.stages; ++s) {
    RowBuilder row(schedule.rows[static_cast<std::size_t>(s)]);
    const int warm_up = std::min(request.stages - 2 - s + *pieces, total);
    for (int step = 0; step < total + warm_up; ++step) {
      if (step < total) row.forward(s);
      if (step < warm_up) continue;
      row.add(ActionKind::kBackward, s, piece_of_backward(step - warm_up));
    }
  }
  return schedule;
}

}  // namespace headrace
