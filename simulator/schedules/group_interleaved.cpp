// PipeOffload's interleaving in groups (Wan et al., 2025, and the zero-bubble repository): a
// building block repeated every 2 V slots, with fewer chunks in flight than Megatron-LM's order.
#include <numeric>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/slot_rows.h"

namespace headrace {
namespace {

/// Groups of g micro-batches take turns on the chunks: F of micro-batch i starts in slot
/// (i / g) 2 V g + (i mod g) 2, each chunk `step` slots after the one before.
struct Block {
  std::int64_t devices;
  std::int64_t chunks;
  std::int64_t group;
  std::int64_t step;

  [[nodiscard]] std::int64_t entry(std::int64_t microbatch) const {
    return microbatch / group * 2 * chunks * group + microbatch % group * 2;
  }
  [[nodiscard]] std::int64_t forward(std::int64_t microbatch, std::int64_t chunk,
                                     std::int64_t device) const {
    return entry(microbatch) + chunk * step + device;
  }
  /// The last chunk's backward follows its forward; the way back mirrors the way there.
  [[nodiscard]] std::int64_t backward(std::int64_t microbatch, std::int64_t chunk,
                                      std::int64_t device) const {
    return entry(microbatch) + (chunks - 1) * step + devices + (chunks - 1 - chunk) * step +
           devices - 1 - device;
  }
};

/// The smallest step that is long enough to pass all devices and leaves every slot to one action:
/// whole turns of a group, their number without a common factor with the chunks.
std::int64_t chunk_step(std::int64_t devices, std::int64_t chunks, std::int64_t group) {
  std::int64_t turns = 1;
  while (2 * group * turns < devices || std::gcd(turns, chunks) != 1) ++turns;
  return 2 * group * turns;
}

}  // namespace

Result<Schedule> group_interleaved_schedule(const ScheduleRequest& request) {
  const auto chunks = even_stages_per_device(request);
  if (!chunks) return Failure(chunks.error());
  const auto group = positive_parameter(request, "group", request.devices);
  if (!group) return Failure(group.error());
  if (*group > request.devices) {
    return Failure(
        {.code = ErrorCode::kInfeasible,
         .what = fmt::format("a group of {} is more than the {} devices", *group, request.devices),
         .where = "--schedule",
         .fix = fmt::format("use group-interleaved:group={}", request.devices)});
  }
  Schedule schedule = empty_loop_schedule(request);
  const Block block{.devices = request.devices,
                    .chunks = *chunks,
                    .group = *group,
                    .step = chunk_step(request.devices, *chunks, *group)};
  for (int r = 0; r < request.devices; ++r) {
    SlotRow slots;
    for (int m = 0; m < request.microbatches; ++m) {
      for (int chunk = 0; chunk < *chunks; ++chunk) {
        const int stage = chunk * request.devices + r;
        slots.add(block.forward(m, chunk, r), ActionKind::kForward, stage, m);
        slots.add(block.backward(m, chunk, r), ActionKind::kInputGrad, stage, m);
      }
    }
    slots.write(schedule.rows[static_cast<std::size_t>(r)]);
  }
  return schedule;
}

}  // namespace headrace
