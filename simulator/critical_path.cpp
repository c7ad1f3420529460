#include "simulator/critical_path.h"

#include <algorithm>
#include <optional>

#include "simulator/message_map.h"

namespace headrace {
namespace {

using Message = MessageMap::Message;

/// One action as a place in a schedule.
struct Place {
  std::size_t device;
  std::size_t step;
};

class Tracer {
 public:
  Tracer(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule), times_(times), map_(schedule), made_(map_.size()) {
    const bool messages = has_messages(schedule);
    copies_ = traits_of(schedule).copies;
    if (messages) sent_.resize(map_.size());
    if (messages) received_.resize(map_.size());
    for (std::size_t d = 0; d < schedule.rows.size(); ++d) {
      for (std::size_t step = 0; step < schedule.rows[d].size(); ++step) {
        remember(schedule.rows[d][step], {d, step});
      }
    }
  }

  [[nodiscard]] std::vector<CausalStep> trace(std::optional<Place> at) const {
    std::vector<CausalStep> path;
    // Times never rise on the way back; the bound is a belt against equal ones.
    for (std::size_t left = times_.start.size(); at && left > 0; --left) {
      const Reason reason = cause_of(*at);
      path.push_back({.device = DeviceId{static_cast<int>(at->device)},
                      .action = action(*at),
                      .start = start(*at),
                      .end = end(*at),
                      .cause = reason.place ? reason.cause : Cause::kStart});
      at = reason.place;
    }
    std::ranges::reverse(path);
    return path;
  }

  [[nodiscard]] std::optional<Place> find(const Action& wanted) const {
    for (std::size_t d = 0; d < schedule_.rows.size(); ++d) {
      for (std::size_t step = 0; step < schedule_.rows[d].size(); ++step) {
        const Action& candidate = schedule_.rows[d][step];
        if (candidate.kind == wanted.kind && candidate.stage == wanted.stage &&
            candidate.microbatch == wanted.microbatch) {
          return Place{d, step};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Place> last_to_end() const {
    std::optional<Place> last;
    for (std::size_t d = 0; d < schedule_.rows.size(); ++d) {
      for (std::size_t step = 0; step < schedule_.rows[d].size(); ++step) {
        const Place place{d, step};
        if (is_compute(action(place).kind) && (!last || end(place) > end(*last))) last = place;
      }
    }
    return last;
  }

 private:
  void remember(const Action& action, const Place& place) {
    if (is_send(action.kind)) sent_[static_cast<std::size_t>(map_.moved_by(action))] = place;
    if (is_receive(action.kind)) received_[static_cast<std::size_t>(map_.moved_by(action))] = place;
    const Message output = is_compute(action.kind) ? map_.output_of(action) : MessageMap::kNone;
    if (output != MessageMap::kNone) made_[static_cast<std::size_t>(output)] = place;
  }

  [[nodiscard]] const Action& action(const Place& place) const {
    return schedule_.rows[place.device][place.step];
  }
  [[nodiscard]] Seconds start(const Place& place) const {
    return times_.start[times_.row_begin[place.device] + place.step];
  }
  [[nodiscard]] Seconds end(const Place& place) const {
    return times_.end[times_.row_begin[place.device] + place.step];
  }

  /// The nearest earlier action of the device that had ended when `place` started; those between
  /// belong to the same batch of messages.
  [[nodiscard]] std::optional<Place> before(const Place& place) const {
    for (std::size_t step = place.step; step-- > 0;) {
      if (is_copy(action({place.device, step}).kind)) continue;
      if (end({place.device, step}) <= start(place)) return Place{place.device, step};
    }
    return std::nullopt;
  }

  /// What made the input that `place` waited for; of two overlapped actions the later one.
  [[nodiscard]] std::optional<Place> source_of(const Place& place) const {
    const auto& row = schedule_.rows[place.device];
    std::size_t first = place.step;
    if (first > 0 && row[first - 1].overlaps_next) --first;
    const std::size_t last = row[first].overlaps_next ? first + 1 : first;
    std::optional<Place> latest;
    for (std::size_t step = first; step <= last; ++step) {
      if (start({place.device, step}) != start(place)) continue;
      const Message message = map_.input_of(row[step]);
      if (message == MessageMap::kNone) continue;
      const Place& source = made_[static_cast<std::size_t>(message)];
      if (!latest || end(source) > end(*latest)) latest = source;
    }
    return latest;
  }

  /// The nearest earlier copy of the device that ended when `place` started.
  [[nodiscard]] std::optional<Place> copy_before(const Place& place) const {
    for (std::size_t step = place.step; step-- > 0;) {
      const Place copy{place.device, step};
      if (is_copy(action(copy).kind) && end(copy) == start(place)) return copy;
    }
    return std::nullopt;
  }

  struct Reason {
    Cause cause = Cause::kDevice;
    std::optional<Place> place;
  };

  [[nodiscard]] Reason cause_of(const Place& place) const {
    const Action& now = action(place);
    const std::optional<Place> own = before(place);
    const bool held_up = start(place) > (own ? end(*own) : Seconds{0});
    if (is_copy(now.kind) && held_up) {
      if (const auto copy = copy_before(place)) return {Cause::kCopy, copy};
    }
    if (is_message(now.kind) && end(place) > start(place)) {
      // Held up: by the other side where that came later, else by what came before here.
      const auto message = static_cast<std::size_t>(map_.moved_by(now));
      const Place& other = is_send(now.kind) ? received_[message] : sent_[message];
      if (start(other) > start(place)) return {Cause::kPartner, before(other)};
    } else if (is_compute(now.kind) && held_up) {
      const auto copy = copies_ && needs_activations(now.kind) ? copy_before(place) : std::nullopt;
      if (copy && action(*copy).kind == ActionKind::kReload) return {Cause::kCopy, copy};
      if (const auto source = source_of(place)) return {Cause::kMessage, source};
    }
    return {Cause::kDevice, own};
  }

  const Schedule& schedule_;
  const ActionTimes& times_;
  MessageMap map_;
  bool copies_ = false;
  std::vector<Place> made_;  ///< By message: the compute action that makes it.
  std::vector<Place> sent_;  ///< By message, where the schedule has sends.
  std::vector<Place> received_;
};

}  // namespace

std::vector<Action> critical_path(const Schedule& schedule, const ActionTimes& times) {
  const Tracer tracer(schedule, times);
  std::vector<Action> path;
  for (const CausalStep& step : tracer.trace(tracer.last_to_end())) {
    if (is_compute(step.action.kind)) path.push_back(step.action);
  }
  return path;
}

std::vector<CausalStep> causal_chain(const Schedule& schedule, const ActionTimes& times,
                                     const Action& action) {
  const Tracer tracer(schedule, times);
  const auto place = tracer.find(action);
  return place ? tracer.trace(place) : std::vector<CausalStep>{};
}

}  // namespace headrace
