#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"
#include "simulator/schedules/row_builder.h"

namespace headrace {

std::vector<GroupedStep> grouped_steps(int microbatches, int chunks, int group) {
  std::vector<GroupedStep> steps;
  steps.reserve(static_cast<std::size_t>(microbatches) * static_cast<std::size_t>(chunks));
  for (int first = 0; first < microbatches; first += group) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int m = first; m < std::min(first + group, microbatches); ++m) {
        steps.push_back({.chunk = chunk, .microbatch = m});
      }
    }
  }
  return steps;
}

Result<int> interleaving_group(const ScheduleRequest& request) {
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
       .fix = fmt::format("use --schedule {}:group={}, or --micro-batches {}", request.name, valid,
                          (microbatches / devices + 1) * devices),
       .why = fmt::format("M mod N must be 0 or at least P: {} mod {} = {} < {}", microbatches,
                          devices, last, devices)});
}

Result<Schedule> interleaved_schedule(const ScheduleRequest& request) {
  const auto chunks = even_stages_per_device(request);
  if (!chunks) return Failure(chunks.error());
  const auto group = interleaving_group(request);
  if (!group) return Failure(group.error());
  Schedule schedule = empty_loop_schedule(request);
  const std::vector<GroupedStep> steps = grouped_steps(request.microbatches, *chunks, *group);
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
