// `account`: where the time of every device went, for predicted and measured timelines alike.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/check.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

constexpr Seconds kUnknown{-1};

/// When every (stage, micro-batch) finished its forward and its backward-chain action.
class Producers {
 public:
  Producers(const Timeline& timeline)  // NOLINT(google-explicit-constructor): local helper
      : timeline_(timeline), microbatches_(static_cast<std::size_t>(timeline.microbatches)) {
    const std::size_t pairs = static_cast<std::size_t>(timeline.stages) * microbatches_;
    forward_.assign(pairs, kUnknown);
    backward_.assign(pairs, kUnknown);
    for (const TimelineEvent& event : timeline.events) {
      const std::size_t place = place_of(number_of(event.action.stage), event.action);
      if (event.action.kind == ActionKind::kForward) forward_[place] = event.end;
      if (event.action.kind == ActionKind::kReload) reloads_[place] = &event;
      if (event.action.kind == ActionKind::kBackward ||
          event.action.kind == ActionKind::kInputGrad) {
        backward_[place] = event.end;
      }
    }
  }

  /// The stage whose message `action` needs, -1 for none.
  [[nodiscard]] int stage_needed_by(const Action& action) const {
    const int stage = number_of(action.stage);
    if (action.kind == ActionKind::kForward) {
      return is_first_stage(timeline_, stage) ? -1 : stage - 1;
    }
    if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad) {
      return is_last_stage(timeline_, stage) ? -1 : stage + 1;
    }
    return -1;
  }

  /// When stage `from` finished what `action` needs; kUnknown where the timeline does not say.
  [[nodiscard]] Seconds produced(const Action& action, int from) const {
    const auto& ends = action.kind == ActionKind::kForward ? forward_ : backward_;
    return ends[place_of(from, action)];
  }

  /// The copy back from the host that `event` waited for to its end, if any.
  [[nodiscard]] const TimelineEvent* awaited_reload(const TimelineEvent& event) const {
    if (reloads_.empty() || !needs_activations(event.action.kind)) return nullptr;
    const auto found = reloads_.find(place_of(number_of(event.action.stage), event.action));
    return found != reloads_.end() && found->second->end == event.start ? found->second : nullptr;
  }

 private:
  [[nodiscard]] std::size_t place_of(int stage, const Action& action) const {
    return static_cast<std::size_t>(stage) * microbatches_ + index_of(action.microbatch);
  }

  const Timeline& timeline_;
  std::size_t microbatches_;
  std::vector<Seconds> forward_;
  std::vector<Seconds> backward_;
  std::map<std::size_t, const TimelineEvent*> reloads_;
};

/// Splits the gap [from, to) before `action` into waiting for the producer and communication.
void book_gap(DeviceReport& report, Seconds from, Seconds to, const TimelineEvent& event,
              const Producers& producers, bool hops_known) {
  const Seconds gap = to - from;
  if (const TimelineEvent* const reload = producers.awaited_reload(event)) {
    const Seconds copying = to - std::max(from, reload->start);
    report.exposed_communication += copying;
    report.wait += gap - copying;
    return;
  }
  const int source = producers.stage_needed_by(event.action);
  const Seconds produced = source < 0 ? kUnknown : producers.produced(event.action, source);
  if (!hops_known || produced < Seconds{0}) {
    report.wait += gap;
    return;
  }
  const Seconds moving = std::clamp(to - std::max(from, produced), Seconds{0}, gap);
  report.exposed_communication += moving;
  report.wait += gap - moving;
}

/// A stretch of time.
struct Interval {
  Seconds start{0};
  Seconds end{0};
};

/// What every device sends and receives in a measured timeline. Only while both ends of a message
/// are at work does something move; the rest of a SEND or RECV is waiting for the other side.
class MessageIntervals {
 public:
  explicit MessageIntervals(const Timeline& timeline)
      : waiting_(static_cast<std::size_t>(timeline.devices)),
        moving_(static_cast<std::size_t>(timeline.devices)) {
    std::map<std::tuple<bool, int, int>, const TimelineEvent*> sends;
    for (const TimelineEvent& event : timeline.events) {
      if (!is_message(event.action.kind)) continue;
      waiting_[index_of(event.device)].push_back({event.start, event.end});
      if (is_send(event.action.kind)) sends[key_of(event.action)] = &event;
    }
    for (const TimelineEvent& event : timeline.events) {
      if (!is_receive(event.action.kind)) continue;
      const auto send = sends.find(key_of(event.action));
      if (send == sends.end()) continue;
      const Interval both = {std::max(event.start, send->second->start),
                             std::min(event.end, send->second->end)};
      if (both.end <= both.start) continue;
      moving_[index_of(event.device)].push_back(both);
      moving_[index_of(send->second->device)].push_back(both);
    }
  }

  [[nodiscard]] bool both_ends_known() const {
    return std::ranges::any_of(moving_, [](const auto& list) { return !list.empty(); });
  }
  /// Sends and receives of a device, whether something moves or not.
  [[nodiscard]] const std::vector<Interval>& waiting(std::size_t d) const { return waiting_[d]; }
  [[nodiscard]] const std::vector<Interval>& moving(std::size_t d) const { return moving_[d]; }

 private:
  /// The same for both ends: forward or not, the sending stage, the micro-batch.
  static std::tuple<bool, int, int> key_of(const Action& action) {
    const int stage = number_of(action.stage);
    const bool forward =
        action.kind == ActionKind::kSendForward || action.kind == ActionKind::kRecvForward;
    const int sender = is_send(action.kind) ? stage : forward ? stage - 1 : stage + 1;
    return {forward, sender, number_of(action.microbatch)};
  }

  std::vector<std::vector<Interval>> waiting_;
  std::vector<std::vector<Interval>> moving_;
};

/// How much of `window` the union of intervals covers.
Seconds covered(std::vector<Interval> intervals, const Interval& window) {
  std::ranges::sort(intervals, {}, &Interval::start);
  Seconds total{0};
  Seconds reached = window.start;
  for (const Interval& interval : intervals) {
    const Seconds from = std::max(interval.start, reached);
    const Seconds to = std::min(interval.end, window.end);
    if (to > from) total += to - from;
    reached = std::max(reached, interval.end);
  }
  return total;
}

/// Every moment of a device is the first of these that holds: computing, moving a message, waiting
/// in a send or receive, idle; from the first to the last computation of all devices.
void account_messages(const Timeline& timeline, const MessageIntervals& messages,
                      Simulation& result) {
  std::vector<std::vector<Interval>> busy(result.per_device.size());
  Interval window{Seconds{1e300}, Seconds{-1e300}};
  for (const TimelineEvent& event : timeline.events) {
    if (!is_compute(event.action.kind)) continue;
    window = {std::min(window.start, event.start), std::max(window.end, event.end)};
    busy[index_of(event.device)].push_back({event.start, event.end});
  }
  double bubbles = 0;
  for (std::size_t d = 0; d < busy.size(); ++d) {
    DeviceReport& report = result.per_device[d];
    std::vector<Interval> so_far = busy[d];
    report.busy = covered(so_far, window);
    so_far.insert(so_far.end(), messages.moving(d).begin(), messages.moving(d).end());
    report.exposed_communication = covered(so_far, window) - report.busy;
    so_far.insert(so_far.end(), messages.waiting(d).begin(), messages.waiting(d).end());
    report.wait = covered(so_far, window) - report.busy - report.exposed_communication;
    report.idle = result.makespan - report.busy - report.exposed_communication - report.wait;
    if (result.makespan > Seconds{0}) report.utilisation = ratio(report.busy, result.makespan);
    bubbles += 1 - report.utilisation;
    result.ideal = std::max(result.ideal, report.busy);
    if (busy[d].empty()) continue;
    const auto ends = std::ranges::max_element(busy[d], {}, &Interval::end);
    const auto starts = std::ranges::min_element(busy[d], {}, &Interval::start);
    result.span = std::max(result.span, ends->end - starts->start);
  }
  result.bubble_ratio = bubbles / static_cast<double>(std::max(1, timeline.devices));
  if (result.ideal > Seconds{0}) result.bubble_overhead = ratio(result.makespan, result.ideal) - 1;
}

}  // namespace

Simulation account(const Timeline& timeline, const std::vector<DeviceId>& device_of_stage,
                   const std::vector<Seconds>& hop_forward,
                   const std::vector<Seconds>& hop_backward) {
  HEADRACE_CHECK(device_of_stage.size() == static_cast<std::size_t>(timeline.stages),
                 "one device per stage");
  const bool hops_known = !hop_forward.empty() && !hop_backward.empty();
  const Producers producers(timeline);
  Simulation result;
  result.stages = timeline.stages / timeline.pipelines;
  result.pipelines = timeline.pipelines;
  result.devices = timeline.devices;
  result.microbatches = timeline.microbatches;
  result.makespan = makespan_of(timeline);
  result.iteration = result.makespan;
  result.per_device.resize(static_cast<std::size_t>(timeline.devices));

  if (const MessageIntervals messages(timeline); messages.both_ends_known()) {
    account_messages(timeline, messages, result);
    return result;
  }
  std::vector<Seconds> first(result.per_device.size(), kUnknown);
  std::vector<Seconds> last(result.per_device.size(), Seconds{0});
  Seconds begin{0};
  bool any = false;
  for (const TimelineEvent& event : timeline.events) {
    if (!is_compute(event.action.kind)) continue;
    const std::size_t d = index_of(event.device);
    DeviceReport& report = result.per_device[d];
    // Overlapped actions share their time.
    const Seconds from = first[d] < Seconds{0} ? event.start : std::max(event.start, last[d]);
    report.busy += std::max(Seconds{0}, event.end - from);
    if (first[d] < Seconds{0}) {
      first[d] = event.start;
    } else if (event.start > last[d]) {
      book_gap(report, last[d], event.start, event, producers, hops_known);
    }
    last[d] = std::max(last[d], event.end);
    begin = any ? std::min(begin, event.start) : event.start;
    any = true;
  }
  double bubbles = 0;
  for (std::size_t d = 0; d < result.per_device.size(); ++d) {
    DeviceReport& report = result.per_device[d];
    const Seconds end = begin + result.makespan;
    // Rounding must not make an idle time negative.
    report.idle = first[d] < Seconds{0}
                      ? result.makespan
                      : std::max(Seconds{0}, (first[d] - begin) + (end - last[d]));
    if (result.makespan > Seconds{0}) report.utilisation = ratio(report.busy, result.makespan);
    bubbles += 1 - report.utilisation;
    result.ideal = std::max(result.ideal, report.busy);
    if (first[d] >= Seconds{0}) result.span = std::max(result.span, last[d] - first[d]);
  }
  result.bubble_ratio = bubbles / static_cast<double>(std::max(1, timeline.devices));
  if (result.ideal > Seconds{0}) result.bubble_overhead = ratio(result.makespan, result.ideal) - 1;
  return result;
}

}  // namespace headrace
