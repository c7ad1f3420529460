#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {
namespace {

/// One step of a device: a micro-batch on one of its chunks, chunk v being stage v P + r.
struct Step {
  int chunk;
  int microbatch;
};

/// Groups of `group` micro-batches, each through chunk 0 … V - 1 before the next group starts:
///   group 2, V = 2, M = 3:  chunk 0 0 1 1 0 1
///                           mb    0 1 0 1 2 2
std::vector<Step> grouped_steps(int microbatches, int chunks, int group) {
  std::vector<Step> steps;
  for (int first = 0; first < microbatches; first += group) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int m = first; m < std::min(first + group, microbatches); ++m) {
        steps.push_back({.chunk = chunk, .microbatch = m});
      }
    }
  }
  return steps;
}

/// A last group smaller than the pipeline makes early devices wait for chunks that late devices
/// start only afterwards: some such schedules deadlock, and Megatron-LM refuses them all. A group
/// that the user names is taken as it is.
Result<int> group_size(const ScheduleRequest& request) {
  const int devices = request.devices;
  const int microbatches = request.microbatches;
  if (request.parameters.contains("group")) return positive_parameter(request, "group", devices);
  const int last = microbatches % devices;
  if (microbatches <= devices || last == 0) return devices;
  int valid = devices;
  while (microbatches % valid != 0 && microbatches % valid < devices) ++valid;
  return Failure(
      {.code = ErrorCode::kInfeasible,
       .what = fmt::format("groups of P = {} leave a last group of {} of {} micro-batches, smaller "
                           "than the pipeline",
                           devices, last, microbatches),
       .where = "--schedule",
       .fix = fmt::format("use --schedule interleaved:group={}, or --micro-batches {}", valid,
                          (microbatches / devices + 1) * devices),
       .why = fmt::format("M mod N must be 0 or at least P: {} mod {} = {} < {}", microbatches,
                          devices, last, devices)});
}

}  // namespace

Result<Schedule> interleaved_schedule(const ScheduleRequest& request) {
  const auto chunks = even_stages_per_device(request);
  if (!chunks) return Failure(chunks.error());
  const auto group = group_size(request);
  if (!group) return Failure(group.error());
  Schedule schedule = empty_loop_schedule(request);
  const std::vector<Step> steps = grouped_steps(request.microbatches, *chunks, *group);
  for (int r = 0; r < request.devices; ++r) {
    RowBuilder row(schedule.rows[static_cast<std::size_t>(r)]);
    const auto forward = [&](std::size_t k) {
      row.add(ActionKind::kForward, steps[k].chunk * request.devices + r, steps[k].microbatch);
    };
    const auto backward = [&](std::size_t k) {
      const int chunk = *chunks - 1 - steps[k].chunk;
      row.add(ActionKind::kBackward, chunk * request.devices + r, steps[k].microbatch);
    };
    const auto wanted = static_cast<std::size_t>(2 * (request.devices - 1 - r)) +
                        static_cast<std::size_t>(*chunks - 1) * static_cast<std::size_t>(*group);
    const std::size_t warm_up = std::min(wanted, steps.size());
    for (std::size_t k = 0; k < warm_up; ++k) forward(k);
    for (std::size_t k = warm_up; k < steps.size(); ++k) {
      forward(k);
      backward(k - warm_up);
    }
    for (std::size_t k = steps.size() - warm_up; k < steps.size(); ++k) backward(k);
  }
  return schedule;
}

Result<Schedule> looped_breadth_first_schedule(const ScheduleRequest& request) {
  const auto chunks = even_stages_per_device(request);
  if (!chunks) return Failure(chunks.error());
  Schedule schedule = empty_loop_schedule(request);
  for (int r = 0; r < request.devices; ++r) {
    RowBuilder row(schedule.rows[static_cast<std::size_t>(r)]);
    for (int chunk = 0; chunk < *chunks; ++chunk) {
      for (int m = 0; m < request.microbatches; ++m) row.forward(chunk * request.devices + r);
    }
    for (int chunk = *chunks; chunk-- > 0;) {
      for (int m = request.microbatches; m-- > 0;) {
        row.add(ActionKind::kBackward, chunk * request.devices + r, m);
      }
    }
  }
  return schedule;
}

}  // namespace headrace
