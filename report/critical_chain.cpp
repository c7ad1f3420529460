#include "report/critical_chain.h"

#include <algorithm>
#include <tuple>

namespace headrace {
namespace {

auto key_of(const Action& action) {
  return std::tuple(action.kind, number_of(action.stage), number_of(action.microbatch));
}

std::optional<std::size_t> later_of(const Timeline& timeline, std::optional<std::size_t> a,
                                    std::optional<std::size_t> b) {
  if (!a || !b) return a ? a : b;
  return timeline.events[*b].end > timeline.events[*a].end ? b : a;
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
      source.stage = StageId{stage - 1};
      return find(source);
    case ActionKind::kBackward:
    case ActionKind::kInputGrad: {
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
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    if (is_compute(timeline.events[i].action.kind)) last = later_of(timeline, last, i);
  }
  std::vector<std::size_t> chain;
  // Events that are wrongly nested in time could send the walk in a circle: it stops at the number
  // of events, which no chain of different events exceeds.
  while (last && chain.size() < timeline.events.size()) {
    chain.push_back(*last);
    last = later_of(timeline, index.before_on_device(*last), index.message_source(*last));
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace headrace
