#include "report/chrome_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "report/critical_chain.h"

namespace headrace {
namespace {

constexpr std::array kLaneNames = {std::string_view("compute"), std::string_view("sends"),
                                   std::string_view("receives"), std::string_view("reductions"),
                                   std::string_view("copies")};

std::size_t lane_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kSendForward:
    case ActionKind::kSendBackward:
      return 1;
    case ActionKind::kRecvForward:
    case ActionKind::kRecvBackward:
      return 2;
    case ActionKind::kReduceGrad:
    case ActionKind::kReduceTied:
      return 3;
    case ActionKind::kOffload:
    case ActionKind::kReload:
      return 4;
    default:
      return 0;
  }
}

std::int64_t nanoseconds(Seconds time) {
  return std::llround(time.value() * 1e9);
}

/// Trace times are microseconds; three decimals keep the nanoseconds.
std::string microseconds(std::int64_t ns) {
  const std::string_view sign = ns < 0 ? "-" : "";
  const std::int64_t size = std::abs(ns);
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

/// Gives every event a thread such that no two slices of a thread overlap: 0, 1, 2 for the first
/// of each lane, then as many more for every further one that runs at the same time.
class Threads {
 public:
  std::size_t place(const TimelineEvent& event) {
    const std::size_t lane = lane_of(event.action.kind);
    for (std::size_t thread = lane;; thread += kLaneNames.size()) {
      std::int64_t& busy_until =
          busy_until_.try_emplace({number_of(event.device), thread}, INT64_MIN).first->second;
      if (busy_until > nanoseconds(event.start)) continue;
      busy_until = std::max(nanoseconds(event.end), nanoseconds(event.start));
      return thread;
    }
  }

  [[nodiscard]] std::vector<std::tuple<int, std::size_t>> used() const {
    std::vector<std::tuple<int, std::size_t>> keys;
    for (const auto& [key, until] : busy_until_) keys.push_back(key);
    return keys;
  }

 private:
  std::map<std::tuple<int, std::size_t>, std::int64_t> busy_until_;
};

std::vector<std::size_t> by_start(const Timeline& timeline) {
  std::vector<std::size_t> order(timeline.events.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::tuple(number_of(timeline.events[i].device), timeline.events[i].start);
  });
  return order;
}

std::string slice(const TimelineEvent& event, std::size_t thread) {
  const std::int64_t start = nanoseconds(event.start);
  return fmt::format(
      R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":"{}","cat":"{}","args":{{"stage":{},"micro_batch":{}}}}})",
      number_of(event.device), thread, microseconds(start),
      microseconds(std::max<std::int64_t>(0, nanoseconds(event.end) - start)),
      to_string(event.action), name_of(event.action.kind), number_of(event.action.stage),
      number_of(event.action.microbatch));
}

/// An arrow from inside the sending slice (its last nanosecond) to the start of the receiving one.
void append_arrow(std::vector<std::string>& lines, const TimelineEvent& from, std::size_t from_tid,
                  const TimelineEvent& to, std::size_t to_tid, std::size_t id) {
  const std::int64_t leaves = std::max(nanoseconds(from.start), nanoseconds(from.end) - 1);
  lines.push_back(fmt::format(
      R"({{"ph":"s","pid":{},"tid":{},"ts":{},"id":{},"name":"message","cat":"message"}})",
      number_of(from.device), from_tid, microseconds(leaves), id));
  lines.push_back(fmt::format(
      R"({{"ph":"f","bp":"e","pid":{},"tid":{},"ts":{},"id":{},"name":"message","cat":"message"}})",
      number_of(to.device), to_tid, microseconds(nanoseconds(to.start)), id));
}

void append_names(std::vector<std::string>& lines, const Timeline& timeline,
                  const Threads& threads) {
  for (int device = 0; device < timeline.devices; ++device) {
    lines.push_back(fmt::format(
        R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":"device {0}, {1}"}}}})",
        device, name_of(timeline.source)));
    lines.push_back(fmt::format(
        R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
        device));
  }
  for (const auto& [device, thread] : threads.used()) {
    const std::size_t copy = thread / kLaneNames.size();
    const std::string_view lane = kLaneNames[thread % kLaneNames.size()];
    lines.push_back(fmt::format(
        R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}{}"}}}})", device,
        thread, lane, copy == 0 ? "" : fmt::format(" {}", copy + 1)));
  }
}

void append_memory(std::vector<std::string>& lines, const Timeline& timeline) {
  for (const MemorySample& sample : timeline.memory) {
    lines.push_back(fmt::format(
        R"({{"ph":"C","pid":{},"ts":{},"name":"memory","args":{{"bytes":{}}}}})",
        number_of(sample.device), microseconds(nanoseconds(sample.time)), sample.bytes.value()));
  }
}

}  // namespace

std::string chrome_trace(const Timeline& timeline) {
  std::vector<std::string> slices;
  std::vector<std::size_t> thread_of(timeline.events.size());
  Threads threads;
  for (const std::size_t i : by_start(timeline)) {
    thread_of[i] = threads.place(timeline.events[i]);
    slices.push_back(slice(timeline.events[i], thread_of[i]));
  }
  const EventIndex index(timeline);
  std::size_t arrows = 0;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const auto source = index.message_source(i);
    if (!source || timeline.events[*source].device == timeline.events[i].device) continue;
    append_arrow(slices, timeline.events[*source], thread_of[*source], timeline.events[i],
                 thread_of[i], arrows++);
  }
  std::vector<std::string> lines;
  append_names(lines, timeline, threads);
  lines.insert(lines.end(), slices.begin(), slices.end());
  append_memory(lines, timeline);
  return fmt::format("{{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{}\n]}}\n",
                     fmt::join(lines, ",\n"));
}

}  // namespace headrace
