#include "core/timeline.h"

#include <algorithm>

namespace headrace {

std::string_view name_of(TimelineSource source) {
  switch (source) {
    case TimelineSource::kPredicted:
      return "predicted";
    case TimelineSource::kMeasured:
      return "measured";
    case TimelineSource::kEmulated:
      return "emulated";
  }
  return "predicted";
}

Seconds makespan_of(const Timeline& timeline) {
  bool any = false;
  Seconds first{0};
  Seconds last{0};
  for (const TimelineEvent& event : timeline.events) {
    if (!is_compute(event.action.kind)) continue;
    first = any ? std::min(first, event.start) : event.start;
    last = any ? std::max(last, event.end) : event.end;
    any = true;
  }
  return last - first;
}

}  // namespace headrace
