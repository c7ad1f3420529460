// Timeline documents, predicted and measured alike.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/json/field_rules.h"

namespace headrace {
namespace {

/// A device as documents have it: a bare number.
template <typename At>
void describe_device(At& at, Of<DeviceId> auto& device) {
  int number = number_of(device);
  at.required("device", number);
  if constexpr (At::kReads) device = DeviceId{number};
}

}  // namespace

template <typename At>
void describe(At& at, Of<TimelineEvent> auto& event) {
  describe_device(at, event.device);
  at.required("action", event.action);
  bool overlaps_next = event.action.overlaps_next;
  at.optional("overlaps_next", overlaps_next);
  if constexpr (At::kReads) event.action.overlaps_next = overlaps_next;
  at.required("start_s", event.start);
  at.required("end_s", event.end);
}

template <typename At>
void describe(At& at, Of<MemorySample> auto& sample) {
  describe_device(at, sample.device);
  at.required("time_s", sample.time);
  at.required("bytes", sample.bytes);
}

template <typename At>
void describe(At& at, Of<IterationTime> auto& time) {
  at.required("makespan_s", time.makespan);
  at.required("iteration_s", time.iteration);
}

template <typename At>
void describe(At& at, Of<Timeline> auto& timeline) {
  at.required("source", timeline.source);
  at.required("devices", timeline.devices);
  at.defaulted("stages", timeline.stages);
  at.defaulted("micro_batches", timeline.microbatches);
  at.defaulted("pipelines", timeline.pipelines, kAtLeastOne);
  at.required("events", timeline.events);
  at.defaulted("memory", timeline.memory);
  at.optional("iterations", timeline.iterations);
}

namespace {

/// Counts that the document left out are the smallest that hold its events.
void fill_counts(const ObjectReader& document, Timeline& timeline) {
  for (const TimelineEvent& event : timeline.events) {
    if (!document.has("stages")) {
      timeline.stages = std::max(timeline.stages, number_of(event.action.stage) + 1);
    }
    if (!document.has("micro_batches")) {
      timeline.microbatches =
          std::max(timeline.microbatches, number_of(event.action.microbatch) + 1);
    }
  }
}

void check_event(const Place& at, const Timeline& timeline, const TimelineEvent& event) {
  const auto outside = [&](std::string_view key, std::string_view noun, int number, int count) {
    if (number < count) return;
    Place(at, key).fail(fmt::format("{} {}, there are {}", noun, number, count),
                        fmt::format("number them from 0 to {}", count - 1));
  };
  outside("device", "device", number_of(event.device), timeline.devices);
  outside("action", "stage", number_of(event.action.stage), timeline.stages);
  outside("action", "micro-batch", number_of(event.action.microbatch), timeline.microbatches);
  if (event.end < event.start) {
    Place(at, "end_s")
        .fail(fmt::format("{} ends at {} s, before it starts at {} s", to_string(event.action),
                          event.end.value(), event.start.value()),
              "an event ends when it starts or later");
  }
}

void check(const Place& root, const Timeline& timeline) {
  if (timeline.stages % timeline.pipelines != 0) {
    Place(root, "pipelines")
        .fail(fmt::format("{} stages in {} pipelines", timeline.stages, timeline.pipelines),
              "give every pipeline the same number of stages");
  }
  const Place events(root, "events");
  for (std::size_t i = 0; i < timeline.events.size() && !root.failed(); ++i) {
    check_event(Place(events, i), timeline, timeline.events[i]);
  }
  const Place memory(root, "memory");
  for (std::size_t i = 0; i < timeline.memory.size() && !root.failed(); ++i) {
    const int device = number_of(timeline.memory[i].device);
    if (device < timeline.devices) continue;
    const Place at(memory, i);
    Place(at, "device")
        .fail(fmt::format("device {}, there are {}", device, timeline.devices),
              fmt::format("number them from 0 to {}", timeline.devices - 1));
  }
}

}  // namespace

Result<Timeline> timeline_from_json(std::string_view text, std::string_view source) {
  return read_document<Timeline>(
      text, source, "timeline", [](ObjectReader& document, Timeline& timeline) {
        describe(document, timeline);
        document.finish();
        if (document.place().failed()) return;
        fill_counts(document, timeline);
        check(document.place(), timeline);
        // Measured files are joined device by device or in order of time; the noun has one order.
        std::ranges::stable_sort(timeline.events, {}, [](const TimelineEvent& event) {
          return std::tuple(event.device, event.start);
        });
      });
}

std::string to_json(const Timeline& timeline) {
  return write_document(timeline, "timeline");
}

}  // namespace headrace
