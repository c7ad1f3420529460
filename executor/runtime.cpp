#include "executor/runtime.h"

#include <deque>
#include <limits>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "executor/collectives.h"
#include "executor/device_steps.h"
#include "executor/precise_wait.h"

namespace headrace {
namespace {

/// Receives that are posted before their messages are needed. Two hide a transfer behind one
/// action; the others even out devices that run ahead. Each costs one boundary tensor.
constexpr std::size_t kPostedAhead = 4;

/// Runs the steps of one device again and again.
class DeviceLoop {
 public:
  DeviceLoop(const DeviceTask& task, std::vector<DeviceStep> steps)
      : task_(task), steps_(std::move(steps)) {
    for (const DeviceStep& step : steps_) {
      if (step.receive) receives_.push_back(*step.receive);
    }
  }

  Result<void> align_clock() {
    const auto offset = clock_offset(task_.channel, task_.options.timeout);
    if (!offset) return Failure(offset.error());
    offset_ = *offset;
    return {};
  }

  Result<IterationRecord> iterate() {
    record_ = {};
    next_to_post_ = 0;
    for (const DeviceStep& step : steps_) {
      if (auto ok = run_step(step); !ok) return Failure(ok.error());
    }
    while (!sends_.empty()) {
      if (auto ok = finish_send(sends_.begin()->first); !ok) return Failure(ok.error());
    }
    if (auto ok = task_.backend.finish_iteration(); !ok) return Failure(ok.error());
    record_.finished = now();
    return std::move(record_);
  }

 private:
  [[nodiscard]] int microbatches() const { return task_.schedule.microbatches; }
  [[nodiscard]] Seconds now() const {
    return Seconds{seconds_since_epoch(RunClock::now())} + offset_;
  }
  [[nodiscard]] int device_of(StageId stage) const {
    return number_of(task_.schedule.device_of_stage[index_of(stage)]);
  }

  Result<void> run_step(const DeviceStep& step) {
    if (auto ok = post_receives(); !ok) return ok;
    if (step.receive) {
      if (auto ok = finish_receive(*step.receive); !ok) return ok;
    }
    const Seconds start = now();
    const auto held = task_.backend.compute(step.action);
    if (!held) return Failure(held.error());
    const Seconds end = now();
    note(step.action, start, end);
    if (*held) {
      const DeviceId device{task_.channel.rank()};
      record_.memory.push_back({.device = device, .time = start, .bytes = (*held)->peak});
      record_.memory.push_back({.device = device, .time = end, .bytes = (*held)->after});
    }
    if (step.hand_over) return task_.backend.hand_over(*step.hand_over);
    if (step.send) return post_send(*step.send);
    return {};
  }

  /// Keeps some receives posted, always in the order of need: both ends of a pair then post in one
  /// fixed order, whatever the timing.
  Result<void> post_receives() {
    while (next_to_post_ < receives_.size() && posted_.size() < kPostedAhead) {
      const Action& receive = receives_[next_to_post_++];
      const auto bytes = task_.backend.buffer(receive);
      if (!bytes) return Failure(bytes.error());
      const int peer = device_of(other_end(receive));
      const auto ticket =
          task_.channel.post_receive({peer, message_tag(receive, microbatches())}, *bytes);
      if (!ticket) return lost_peer(task_.channel, peer, to_string(receive), ticket.error());
      posted_.push_back(*ticket);
    }
    return {};
  }

  Result<void> finish_receive(const Action& receive) {
    const Seconds start = now();
    const Ticket ticket = posted_.front();
    posted_.pop_front();
    auto ok = wait_watched(task_.channel, {ticket, device_of(other_end(receive)),
                                           to_string(receive), task_.options.timeout});
    if (!ok) return ok;
    note(receive, start, now());
    if (receive.kind != ActionKind::kRecvBackward) return {};
    // The neighbour has sent the gradient, so it has long received the output: this wait is short.
    Action output = receive;
    output.kind = ActionKind::kSendForward;
    return finish_send(message_tag(received_as(output), microbatches()));
  }

  Result<void> post_send(const Action& send) {
    const auto bytes = task_.backend.buffer(send);
    if (!bytes) return Failure(bytes.error());
    const int tag = message_tag(received_as(send), microbatches());
    const int peer = device_of(other_end(send));
    const auto ticket = task_.channel.post_send({peer, tag}, *bytes);
    if (!ticket) return lost_peer(task_.channel, peer, to_string(send), ticket.error());
    sends_.emplace(tag, std::pair(send, *ticket));
    return {};
  }

  Result<void> finish_send(int tag) {
    const auto found = sends_.find(tag);
    if (found == sends_.end()) return {};
    const auto [send, ticket] = found->second;
    sends_.erase(found);
    auto ok = wait_watched(task_.channel,
                           {ticket, device_of(other_end(send)),
                            fmt::format("{} to be taken", to_string(send)), task_.options.timeout});
    if (ok) task_.backend.release(send);
    return ok;
  }

  void note(const Action& action, Seconds start, Seconds end) {
    record_.events.push_back(
        {.device = DeviceId{task_.channel.rank()}, .action = action, .start = start, .end = end});
  }

  const DeviceTask& task_;
  std::vector<DeviceStep> steps_;
  std::vector<Action> receives_;  ///< In the order of need.
  std::size_t next_to_post_ = 0;
  std::deque<Ticket> posted_;  ///< Of the receives just before `next_to_post_`.
  std::map<int, std::pair<Action, Ticket>> sends_;  ///< Not yet known to be through, by tag.
  Seconds offset_{0};
  IterationRecord record_;
};

Result<void> check_fit(const DeviceTask& task) {
  const auto fail = [](std::string what, std::string fix) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = std::move(what),
                    .where = "schedule",
                    .fix = std::move(fix)});
  };
  const Schedule& schedule = task.schedule;
  if (schedule.devices != task.channel.world()) {
    return fail(
        fmt::format("made for {} devices, run by {} ranks", schedule.devices, task.channel.world()),
        fmt::format("start {} ranks", schedule.devices));
  }
  const std::int64_t messages =
      std::int64_t{schedule.stages} * std::int64_t{schedule.microbatches} * 2;
  if (messages > std::numeric_limits<int>::max() - kFirstMessageTag) {
    return fail(fmt::format("{} messages in one iteration exceed the number of tags", messages),
                "use fewer micro-batches");
  }
  return {};
}

}  // namespace

Result<DeviceRecord> run_device(const DeviceTask& task) {
  if (auto ok = check_fit(task); !ok) return Failure(ok.error());
  auto steps = device_steps(task.schedule, DeviceId{task.channel.rank()});
  if (!steps) return Failure(steps.error());
  DeviceLoop loop(task, std::move(*steps));
  if (auto ok = loop.align_clock(); !ok) return Failure(ok.error());

  DeviceRecord measured;
  const int total = task.options.warmup + task.options.iterations;
  for (int iteration = 0; iteration < total; ++iteration) {
    if (auto ok = barrier(task.channel, task.options.timeout); !ok) return Failure(ok.error());
    auto record = loop.iterate();
    if (!record) return Failure(record.error());
    if (iteration >= task.options.warmup) measured.push_back(std::move(*record));
    if (task.after_iteration) {
      if (auto ok = task.after_iteration(iteration); !ok) return Failure(ok.error());
    }
    if (task.channel.rank() == 0 && task.options.on_progress) {
      task.options.on_progress(iteration + 1, total);
    }
  }
  return measured;
}

}  // namespace headrace
