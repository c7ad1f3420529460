#include "simulator/event_engine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "simulator/host_copies.h"
#include "simulator/message_map.h"
#include "simulator/shared_links.h"

namespace headrace {
namespace {

using Message = MessageMap::Message;

/// Something that happens at a time; equal times in the order in which they were scheduled.
struct Event {
  enum class Kind { kComputed, kMessageArrives, kFlowStarts, kCopied };
  double time;
  std::uint64_t order;
  Kind kind;
  std::int64_t subject;   ///< Device or message.
  std::uint64_t version;  ///< Of the device's computation; events of older ones are void.
  friend bool operator>(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

struct MessageState {
  bool made = false;     ///< Computed; enough for a stage on the same device.
  bool sent = false;     ///< Its send has started.
  bool awaited = false;  ///< Its receive has started.
  bool moving = false;
  bool arrived = false;
};

struct DeviceState {
  std::size_t next = 0;  ///< The action to run, running or waiting.
  bool computing = false;
  double work_left = 0;  ///< Of the running computation at full speed,
  double since = 0;      ///< at this time.
  std::uint64_t version = 0;
  int moving = 0;  ///< Messages in flight to or from here.
  Message blocked_on = MessageMap::kNone;
  bool posted = false;        ///< The action at `next`, a send or receive, has been posted.
  int batch_left = 0;         ///< Messages of the last batch that have not arrived.
  std::size_t batch_end = 0;  ///< End of the batch that the device waits for, else 0.
  std::array<std::deque<std::pair<Message, bool>>, 2> streams;  ///< (message, is a receive)
};

class EventEngine {
 public:
  EventEngine(const SimulationInput& input, const CommunicationModel& model)
      : input_(input),
        model_(model),
        schedule_(input.schedule),
        map_(schedule_),
        links_(model.resources),
        messages_(map_.size()),
        devices_(schedule_.rows.size()),
        copies_(schedule_, traits_of(schedule_).copies) {
    times_.row_begin.push_back(0);
    for (const auto& row : schedule_.rows) {
      times_.row_begin.push_back(times_.row_begin.back() + row.size());
    }
    times_.start.resize(times_.row_begin.back());
    times_.end.resize(times_.row_begin.back());
  }

  Result<ActionTimes> run() {
    for (std::size_t d = 0; d < devices_.size(); ++d) go_on(d);
    while (step()) {
    }
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (devices_[d].next < schedule_.rows[d].size()) return deadlock(d);
    }
    return std::move(times_);
  }

 private:
  MessageState& state(Message message) { return messages_[static_cast<std::size_t>(message)]; }
  [[nodiscard]] const MessageState& state(Message message) const {
    return messages_[static_cast<std::size_t>(message)];
  }

  void at(double time, Event::Kind kind, std::int64_t subject, std::uint64_t version = 0) {
    events_.push({time, order_++, kind, subject, version});
  }

  /// Takes the next event; false when there is none.
  bool step() {
    const auto flow = links_.next();
    if (flow && (events_.empty() || flow->time <= events_.top().time)) {
      now_ = flow->time;
      links_.finish(*flow);
      arrive(flow->id);
      return true;
    }
    if (events_.empty()) return false;
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    switch (event.kind) {
      case Event::Kind::kComputed:
        computed(event);
        break;
      case Event::Kind::kMessageArrives:
        arrive(event.subject);
        break;
      case Event::Kind::kFlowStarts:
        start_flow(event.subject);
        break;
      case Event::Kind::kCopied:
        if (!devices_[static_cast<std::size_t>(event.subject)].computing) {
          go_on(static_cast<std::size_t>(event.subject));
        }
        break;
    }
    return true;
  }

  void book_start(std::size_t d, std::size_t step_index) {
    times_.start[times_.row_begin[d] + step_index] = Seconds(now_);
  }
  void book_end(std::size_t d, std::size_t step_index) {
    times_.end[times_.row_begin[d] + step_index] = Seconds(now_);
  }

  /// Runs the device from its next action until it computes, waits or is done.
  void go_on(std::size_t d) {
    DeviceState& device = devices_[d];
    const auto& row = schedule_.rows[d];
    if (!leave_batch(d)) return;
    while (device.next < row.size()) {
      const Action& action = row[device.next];
      if (is_compute(action.kind)) {
        if (has_inputs(d)) start_compute(d);
        return;
      }
      if (is_copy(action.kind)) {
        run_copy(d, action);
        ++device.next;
        continue;
      }
      if (!is_message(action.kind)) {
        book_start(d, device.next);
      } else if (model_.semantics == CommunicationSemantics::kBatched) {
        if (!take_batch(d)) return;
        continue;
      } else if (!take_message(d, action)) {
        return;
      }
      book_end(d, device.next);
      device.posted = false;
      ++device.next;
    }
  }

  void run_copy(std::size_t d, const Action& action) {
    const double duration = input_.stages[index_of(action.stage)].offload.value();
    const auto [start, end] = copies_.run(d, action, now_, duration);
    times_.start[times_.row_begin[d] + devices_[d].next] = Seconds(start);
    times_.end[times_.row_begin[d] + devices_[d].next] = Seconds(end);
    if (end > now_) at(end, Event::Kind::kCopied, static_cast<std::int64_t>(d));
  }

  /// How many actions run together at `next`: two for an overlap whose time is known.
  [[nodiscard]] std::size_t width(std::size_t d) const {
    const Action& action = schedule_.rows[d][devices_[d].next];
    return action.overlaps_next && input_.overlap_share ? 2 : 1;
  }

  bool has_inputs(std::size_t d) {
    const std::size_t next = devices_[d].next;
    for (std::size_t i = next; i < next + width(d); ++i) {
      if (!has_input(d, schedule_.rows[d][i])) return false;
    }
    return true;
  }

  bool has_input(std::size_t d, const Action& action) {
    if (copies_.ready(action) > now_) return false;
    const Message needed = map_.input_of(action);
    if (needed == MessageMap::kNone) return true;
    const bool local = map_.sender(needed) == d;
    if (local ? state(needed).made : state(needed).arrived) return true;
    devices_[d].blocked_on = needed;
    return false;
  }

  void start_compute(std::size_t d) {
    DeviceState& device = devices_[d];
    device.computing = true;
    device.work_left = 0;
    for (std::size_t i = device.next; i < device.next + width(d); ++i) {
      device.work_left += action_duration(input_, schedule_.rows[d][i]).value();
      book_start(d, i);
    }
    if (width(d) == 2) device.work_left *= *input_.overlap_share;
    device.since = now_;
    schedule_end(d);
  }

  [[nodiscard]] double slowdown(const DeviceState& device) const {
    return device.moving > 0 ? model_.compute_slowdown : 1;
  }

  void schedule_end(std::size_t d) {
    DeviceState& device = devices_[d];
    at(now_ + device.work_left * slowdown(device), Event::Kind::kComputed,
       static_cast<std::int64_t>(d), ++device.version);
  }

  void computed(const Event& event) {
    const auto d = static_cast<std::size_t>(event.subject);
    DeviceState& device = devices_[d];
    if (event.version != device.version) return;
    device.computing = false;
    for (std::size_t left = width(d); left > 0; --left, ++device.next) {
      book_end(d, device.next);
      const Message made = map_.output_of(schedule_.rows[d][device.next]);
      if (made != MessageMap::kNone) state(made).made = true;
    }
    go_on(d);
  }

  /// The number of messages in flight at a device changes: so may the speed of its computation.
  void change_moving(std::size_t d, int by) {
    DeviceState& device = devices_[d];
    const double before = slowdown(device);
    device.moving += by;
    const double after = slowdown(device);
    if (!device.computing || before == after) return;
    device.work_left = std::max(0.0, device.work_left - (now_ - device.since) / before);
    device.since = now_;
    schedule_end(d);
  }

  /// Posts the send or receive at `next`; false when the device has to wait at it.
  bool take_message(std::size_t d, const Action& action) {
    DeviceState& device = devices_[d];
    const Message message = map_.moved_by(action);
    if (!device.posted) {
      device.posted = true;
      book_start(d, device.next);
      post(d, message, is_receive(action.kind));
    }
    const bool waits =
        model_.semantics == CommunicationSemantics::kRendezvous ||
        (model_.semantics == CommunicationSemantics::kBlockingReceive && is_receive(action.kind));
    if (!waits || state(message).arrived) return true;
    device.blocked_on = message;
    return false;
  }

  /// Posts the run of neighbouring sends and receives at `next`, when the run before is finished.
  /// False when the device has to wait.
  bool take_batch(std::size_t d) {
    DeviceState& device = devices_[d];
    const auto& row = schedule_.rows[d];
    if (device.batch_left > 0) return false;
    std::size_t last = device.next;
    bool waits = false;
    for (; last < row.size() && is_message(row[last].kind); ++last) {
      book_start(d, last);
      book_end(d, last);
      ++device.batch_left;
      waits |= is_receive(row[last].kind);
    }
    for (std::size_t i = device.next; i < last; ++i) {
      post(d, map_.moved_by(row[i]), is_receive(row[i].kind));
    }
    if (waits) {
      device.batch_end = last;
      return false;
    }
    device.next = last;
    return true;
  }

  /// False while the device waits for a batch; else goes behind it.
  bool leave_batch(std::size_t d) {
    DeviceState& device = devices_[d];
    if (device.batch_end == 0) return true;
    if (device.batch_left > 0) return false;
    for (; device.next < device.batch_end; ++device.next) book_end(d, device.next);
    device.batch_end = 0;
    return true;
  }

  auto& stream_of(std::size_t d, bool receive) {
    const bool second = model_.streams == CommunicationStreams::kPerDirection && receive;
    return devices_[d].streams[second ? 1 : 0];
  }

  void post(std::size_t d, Message message, bool receive) {
    if (model_.streams == CommunicationStreams::kUnlimited) {
      activate(message, receive);
      return;
    }
    auto& stream = stream_of(d, receive);
    stream.emplace_back(message, receive);
    if (stream.size() == 1) activate(message, receive);
  }

  /// One side of a message is there; it moves when the semantics are satisfied.
  void activate(Message message, bool receive) {
    MessageState& mine = state(message);
    (receive ? mine.awaited : mine.sent) = true;
    const bool both = model_.streams != CommunicationStreams::kUnlimited ||
                      model_.semantics == CommunicationSemantics::kRendezvous ||
                      model_.semantics == CommunicationSemantics::kBatched;
    if (mine.moving || !mine.sent || (both && !mine.awaited)) return;
    mine.moving = true;
    change_moving(map_.sender(message), 1);
    change_moving(map_.receiver(message), 1);
    if (const MessagePath* path = shared_path(message)) {
      at(now_ + path->latency.value(), Event::Kind::kFlowStarts, message);
    } else {
      at(now_ + hop_of(message), Event::Kind::kMessageArrives, message);
    }
  }

  [[nodiscard]] double hop_of(Message message) const {
    const std::size_t stage = map_.sender_stage(message);
    return map_.is_forward(message) ? input_.hop_forward[stage].value()
                                    : input_.hop_backward[stage - 1].value();
  }

  /// Null where the message has its hop time for itself.
  [[nodiscard]] const MessagePath* shared_path(Message message) const {
    if (model_.resources.empty()) return nullptr;
    const std::size_t stage = map_.sender_stage(message);
    const MessagePath& path =
        map_.is_forward(message) ? model_.forward_path[stage] : model_.backward_path[stage - 1];
    return path.resources.empty() ? nullptr : &path;
  }

  void start_flow(Message message) {
    const MessagePath& path = *shared_path(message);
    if (path.size == Bytes{0}) {
      arrive(message);
    } else {
      links_.start(message, path.size, path.resources, now_);
    }
  }

  void arrive(Message message) {
    state(message).arrived = true;
    const std::array ends = {std::pair{map_.sender(message), false},
                             std::pair{map_.receiver(message), true}};
    for (const auto& [d, receive] : ends) {
      change_moving(d, -1);
      if (model_.semantics == CommunicationSemantics::kBatched) --devices_[d].batch_left;
      if (model_.streams == CommunicationStreams::kUnlimited) continue;
      auto& stream = stream_of(d, receive);
      stream.pop_front();
      if (!stream.empty()) activate(stream.front().first, stream.front().second);
    }
    for (const auto& [d, receive] : ends) wake(d, message);
  }

  void wake(std::size_t d, Message message) {
    DeviceState& device = devices_[d];
    const bool batch_done =
        model_.semantics == CommunicationSemantics::kBatched && device.batch_left == 0;
    if (device.blocked_on == message) {
      device.blocked_on = MessageMap::kNone;
    } else if (device.computing || !batch_done) {
      return;
    }
    go_on(d);
  }

  /// The message that keeps device d from going on.
  [[nodiscard]] Message obstacle(std::size_t d) const {
    const DeviceState& device = devices_[d];
    if (device.blocked_on != MessageMap::kNone) return device.blocked_on;
    const auto& row = schedule_.rows[d];
    for (std::size_t i = std::max(device.batch_end, device.next); i-- > 0;) {
      if (is_message(row[i].kind) && !state(map_.moved_by(row[i])).arrived) {
        return map_.moved_by(row[i]);
      }
    }
    return MessageMap::kNone;
  }

  [[nodiscard]] Failure deadlock(std::size_t device) const {
    const auto other_end = [&](std::size_t d) {
      const Message message = obstacle(d);
      return map_.sender(message) == d ? map_.receiver(message) : map_.sender(message);
    };
    std::vector<std::size_t> path;
    while (std::ranges::find(path, device) == path.end()) {
      path.push_back(device);
      device = other_end(device);
    }
    path.erase(path.begin(), std::ranges::find(path, device));
    std::vector<BlockedAction> cycle;
    for (const std::size_t d : path) {
      const Message message = obstacle(d);
      const bool sends = map_.sender(message) == d;
      cycle.push_back({.device = static_cast<int>(d),
                       .action = to_string(schedule_.rows[d][devices_[d].next]),
                       .waits_for = map_.name(message, /*receive=*/sends && path.size() > 1)});
    }
    return Failure({.code = ErrorCode::kDeadlock,
                    .what = fmt::format("the schedule waits for itself: {} device{} in a circle",
                                        cycle.size(), cycle.size() == 1 ? "" : "s"),
                    .where = fmt::format("device {} step {}", device, devices_[device].next),
                    .fix = "reorder one of these actions, or use --communication async",
                    .cycle = std::move(cycle)});
  }

  const SimulationInput& input_;
  const CommunicationModel& model_;
  const Schedule& schedule_;
  MessageMap map_;
  SharedLinks links_;
  std::vector<MessageState> messages_;
  std::vector<DeviceState> devices_;
  HostCopies copies_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  ActionTimes times_;
};

}  // namespace

Result<ActionTimes> time_events(const SimulationInput& input, const CommunicationModel& model) {
  HEADRACE_CHECK(model.compute_slowdown >= 1, "communication never speeds compute up");
  return EventEngine(input, model).run();
}

std::string_view name_of(CommunicationSemantics semantics) {
  switch (semantics) {
    case CommunicationSemantics::kAsync:
      return "async";
    case CommunicationSemantics::kBlockingReceive:
      return "blocking-recv";
    case CommunicationSemantics::kRendezvous:
      return "rendezvous";
    case CommunicationSemantics::kBatched:
      return "batched";
  }
  return "async";
}

std::optional<CommunicationSemantics> semantics_from_name(std::string_view name) {
  for (const auto semantics :
       {CommunicationSemantics::kAsync, CommunicationSemantics::kBlockingReceive,
        CommunicationSemantics::kRendezvous, CommunicationSemantics::kBatched}) {
    if (name_of(semantics) == name) return semantics;
  }
  return std::nullopt;
}

}  // namespace headrace
