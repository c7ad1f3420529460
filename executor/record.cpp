// Records of all devices: to rank 0 as bytes, and there together as one timeline.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "executor/collectives.h"
#include "executor/runtime.h"

namespace headrace {
namespace {

using ByteVector = std::vector<std::byte>;

template <typename T>
void append(ByteVector& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

template <typename T>
void append_all(ByteVector& bytes, const std::vector<T>& values) {
  append(bytes, values.size());
  for (const T& value : values) append(bytes, value);
}

ByteVector encode(const DeviceRecord& record) {
  ByteVector bytes;
  append(bytes, record.size());
  for (const IterationRecord& iteration : record) {
    append_all(bytes, iteration.events);
    append_all(bytes, iteration.memory);
    append(bytes, iteration.finished);
  }
  return bytes;
}

/// Takes values off the front; all ranks run the same program, so the layout is the same.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    HEADRACE_CHECK(bytes_.size() >= sizeof(T), "a record is as long as it says");
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }

  template <typename T>
  std::vector<T> take_all() {
    std::vector<T> values(take<std::size_t>());
    for (T& value : values) value = take<T>();
    return values;
  }

 private:
  std::span<const std::byte> bytes_;
};

DeviceRecord decode(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  DeviceRecord record(decoder.take<std::size_t>());
  for (IterationRecord& iteration : record) {
    iteration.events = decoder.take_all<TimelineEvent>();
    iteration.memory = decoder.take_all<MemorySample>();
    iteration.finished = decoder.take<Seconds>();
  }
  return record;
}

/// First start and ends of one iteration over all devices.
struct Extent {
  Seconds first{0};
  Seconds last{0};
  Seconds finished{0};
};

Extent extent_of(std::span<const DeviceRecord> records, std::size_t iteration) {
  Extent extent;
  bool any = false;
  for (const DeviceRecord& record : records) {
    extent.finished = std::max(extent.finished, record[iteration].finished);
    for (const TimelineEvent& event : record[iteration].events) {
      if (!is_compute(event.action.kind)) continue;
      extent.first = any ? std::min(extent.first, event.start) : event.start;
      extent.last = any ? std::max(extent.last, event.end) : event.end;
      any = true;
    }
  }
  return extent;
}

/// The iteration in the middle; of two, the shorter.
std::size_t median_of(const std::vector<IterationTime>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i].iteration; });
  return order[(order.size() - 1) / 2];
}

}  // namespace

Result<std::vector<DeviceRecord>> gather_records(Channel& channel, const DeviceRecord& record,
                                                 Seconds timeout) {
  const auto all = gather_bytes(channel, encode(record), timeout);
  if (!all) return Failure(all.error());
  std::vector<DeviceRecord> records;
  for (const ByteVector& bytes : *all) records.push_back(decode(bytes));
  return records;
}

Timeline timeline_of(std::span<const DeviceRecord> records, const Schedule& schedule,
                     TimelineSource source) {
  HEADRACE_CHECK(!records.empty() && !records[0].empty(), "at least one iteration was measured");
  Timeline timeline{.source = source,
                    .devices = schedule.devices,
                    .stages = schedule.stages,
                    .microbatches = schedule.microbatches,
                    .events = {}};
  for (std::size_t i = 0; i < records[0].size(); ++i) {
    const Extent extent = extent_of(records, i);
    timeline.iterations.push_back(
        {.makespan = extent.last - extent.first, .iteration = extent.finished - extent.first});
  }
  const std::size_t shown = median_of(timeline.iterations);
  const Seconds origin = extent_of(records, shown).first;
  for (const DeviceRecord& record : records) {
    for (TimelineEvent event : record[shown].events) {
      // A receive may be waited for before the iteration's first action.
      event.start = std::max(event.start - origin, Seconds{0});
      event.end = std::max(event.end - origin, Seconds{0});
      timeline.events.push_back(event);
    }
    for (MemorySample sample : record[shown].memory) {
      sample.time -= origin;
      timeline.memory.push_back(sample);
    }
  }
  return timeline;
}

}  // namespace headrace
