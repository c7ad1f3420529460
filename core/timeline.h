// When every action started and ended, predicted or measured: one type for both.
#pragma once

#include <string_view>
#include <vector>

#include "core/ids.h"
#include "core/schedule.h"
#include "core/units.h"

namespace headrace {

enum class TimelineSource { kPredicted, kMeasured, kEmulated };

/// "predicted", "measured", "emulated".
std::string_view name_of(TimelineSource source);

struct TimelineEvent {
  DeviceId device{};
  Action action;
  Seconds start{0};  ///< Since the first event of the iteration.
  Seconds end{0};
  friend bool operator==(const TimelineEvent&, const TimelineEvent&) = default;
};

/// From `time` on, `device` holds `bytes`.
struct MemorySample {
  DeviceId device{};
  Seconds time{0};
  Bytes bytes{0};
  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// One measured iteration.
struct IterationTime {
  Seconds makespan{0};   ///< First start to last end of compute.
  Seconds iteration{0};  ///< With gradient reduction and optimizer.
  friend bool operator==(const IterationTime&, const IterationTime&) = default;
};

/// Events sorted by device, then start. A measured timeline shows the iteration whose time is the
/// median and lists all of them in `iterations`.
struct Timeline {
  TimelineSource source = TimelineSource::kPredicted;
  int devices = 0;
  int stages = 0;
  int microbatches = 0;
  std::vector<TimelineEvent> events;
  std::vector<MemorySample> memory = {};
  std::vector<IterationTime> iterations = {};
  int pipelines = 1;  ///< Replicas of the model on the devices, as in Schedule.
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// End of the last compute action minus start of the first; 0 for no event.
Seconds makespan_of(const Timeline& timeline);

}  // namespace headrace
