#include "report/critical_chain.h"

#include <algorithm>
#include <tuple>

namespace headrace {
namespace {

auto key_of(const Action& action) {
  return std::tuple(action.kind, number_of(action.stage), number_of(action.microbatch));
}

/// The compute event that ends last, the first of several.
std::optional<std::size_t> last_to_end(const Timeline& timeline) {
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    if (!is_compute(timeline.events[i].action.kind)) continue;
    if (!last || timeline.events[i].end > timeline.events[*last].end) last = i;
  }
  return last;
}

/// What made `event` start when it did: its device, if it was busy until then, else the message.
std::optional<std::size_t> cause_of(const Timeline& timeline, const EventIndex& index,
                                    std::size_t event) {
  constexpr double kSame = 1e-9;  // of the start time: rounding, not a gap
  const auto before = index.before_on_device(event);
  const auto source = index.message_source(event);
  if (!before || !source) return before ? before : source;
  const Seconds start = timeline.events[event].start;
  const Seconds gap = start - timeline.events[*before].end;
  return gap.value() <= kSame * start.value() ? before : source;
}

}  // namespace

EventIndex::EventIndex(const Timeline& timeline)
    : timeline_(timeline), before_(timeline.events.size()) {
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    if (is_compute(timeline.events[i].action.kind)) by_action_.push_back(i);
  }
  std::vector<std::size_t> by_start = by_action_;
  std::ranges::sort(by_start, {}, [&](std::size_t i) {
    const TimelineEvent& event = timeline.events[i];
    return std::tuple(number_of(event.device), event.start, event.end, i);
  });
  for (std::size_t k = 1; k < by_start.size(); ++k) {
    if (timeline.events[by_start[k]].device == timeline.events[by_start[k - 1]].device) {
      before_[by_start[k]] = by_start[k - 1];
    }
  }
  std::ranges::sort(by_action_, {}, [&](std::size_t i) {
    return std::tuple(key_of(timeline.events[i].action), i);
  });
}

std::optional<std::size_t> EventIndex::find(const Action& action) const {
  const auto key = [&](std::size_t i) { return key_of(timeline_.events[i].action); };
  const auto found = std::ranges::lower_bound(by_action_, key_of(action), {}, key);
  if (found == by_action_.end() || key(*found) != key_of(action)) return std::nullopt;
  return *found;
}

std::optional<std::size_t> EventIndex::message_source(std::size_t event) const {
  Action source = timeline_.events[event].action;
  const int stage = number_of(source.stage);
  switch (source.kind) {
    case ActionKind::kForward:
      if (is_first_stage(timeline_, stage)) return std::nullopt;
      source.stage = StageId{stage - 1};
      return find(source);
    case ActionKind::kBackward:
    case ActionKind::kInputGrad: {
      if (is_last_stage(timeline_, stage)) return std::nullopt;
      source.stage = StageId{stage + 1};
      source.kind = ActionKind::kBackward;
      const auto whole = find(source);
      source.kind = ActionKind::kInputGrad;
      return whole ? whole : find(source);
    }
    default:
      return std::nullopt;
  }
}

std::vector<std::size_t> critical_chain(const Timeline& timeline) {
  const EventIndex index(timeline);
  std::optional<std::size_t> event = last_to_end(timeline);
  std::vector<std::size_t> chain;
  // Events that are wrongly nested in time could send the walk in a circle: it stops at the number
  // of events, which no chain of different events exceeds.
  while (event && chain.size() < timeline.events.size()) {
    chain.push_back(*event);
    event = cause_of(timeline, index, *event);
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace headrace
