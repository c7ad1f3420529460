// Hanayo (Liu et al., "Hanayo: Harnessing Wave-like Pipeline Parallelism for Enhanced Large Model
// Training Efficiency", SC 2023): stages folded in waves over the devices, so that a micro-batch
// turns around at the last device without a hop.
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "simulator/schedules/generators.h"

namespace headrace {
namespace {

/// The order is that of a greedy run with F = 1 and B = 2: a free device takes a backward before a
/// forward, of backwards the oldest micro-batch, of forwards the last stage. At most `limit`
/// micro-batches are on their way.
class WaveRun {
 public:
  WaveRun(Schedule& schedule, int limit)
      : schedule_(schedule),
        limit_(limit),
        ready_(schedule.rows.size()),
        running_(schedule.rows.size()),
        busy_(schedule.rows.size(), false) {}

  void run() {
    admit();
    start_all();
    while (!ends_.empty()) {
      now_ = ends_.top().first;
      while (!ends_.empty() && ends_.top().first == now_) {
        const std::size_t device = ends_.top().second;
        ends_.pop();
        busy_[device] = false;
        finish(running_[device]);
      }
      admit();
      start_all();
    }
  }

 private:
  /// Sorts by what runs first.
  using Entry = std::tuple<int, int, int, int, int>;  ///< (kind, rank, rank, stage, micro-batch).

  void make_ready(ActionKind kind, int stage, int microbatch) {
    const bool forward = kind == ActionKind::kForward;
    ready_[index_of(schedule_.device_of_stage[static_cast<std::size_t>(stage)])].push(
        {forward ? 1 : 0, forward ? -stage : microbatch, forward ? microbatch : -stage, stage,
         microbatch});
  }

  void admit() {
    while (admitted_ < schedule_.microbatches && admitted_ - left_ < limit_) {
      make_ready(ActionKind::kForward, 0, admitted_++);
    }
  }

  void start_all() {
    for (std::size_t device = 0; device < ready_.size(); ++device) {
      if (busy_[device] || ready_[device].empty()) continue;
      const auto [kind, first, second, stage, microbatch] = ready_[device].top();
      ready_[device].pop();
      const bool forward = kind == 1;
      running_[device] = {.kind = forward ? ActionKind::kForward : ActionKind::kBackward,
                          .stage = StageId{stage},
                          .microbatch = MicrobatchId{microbatch}};
      schedule_.rows[device].push_back(running_[device]);
      busy_[device] = true;
      ends_.emplace(now_ + (forward ? 1 : 2), device);
    }
  }

  void finish(const Action& action) {
    const int stage = number_of(action.stage);
    const int microbatch = number_of(action.microbatch);
    if (action.kind == ActionKind::kBackward) {
      if (stage == 0) {
        ++left_;
      } else {
        make_ready(ActionKind::kBackward, stage - 1, microbatch);
      }
    } else if (stage + 1 < schedule_.stages) {
      make_ready(ActionKind::kForward, stage + 1, microbatch);
    } else {
      make_ready(ActionKind::kBackward, stage, microbatch);
    }
  }

  Schedule& schedule_;
  int limit_;
  int admitted_ = 0;
  int left_ = 0;  ///< Micro-batches whose backward is done.
  std::int64_t now_ = 0;
  std::vector<std::priority_queue<Entry, std::vector<Entry>, std::greater<>>> ready_;
  std::vector<Action> running_;
  std::vector<bool> busy_;
  using End = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

Result<Schedule> hanayo_schedule(const ScheduleRequest& request) {
  const auto per_device = even_stages_per_device(request);
  if (!per_device) return Failure(per_device.error());
  if (*per_device % 2 != 0) {
    return Failure({.code = ErrorCode::kInfeasible,
                    .what = fmt::format("a wave passes every device twice: {} stages per device "
                                        "are no whole number of waves",
                                        *per_device),
                    .where = "--stages",
                    .fix = fmt::format("use --stages {}", (*per_device + 1) * request.devices)});
  }
  const auto limit = positive_parameter(request, "limit", 2 * request.devices);
  if (!limit) return Failure(limit.error());
  Schedule schedule = empty_wave_schedule(request);
  WaveRun(schedule, *limit).run();
  return schedule;
}

}  // namespace headrace
