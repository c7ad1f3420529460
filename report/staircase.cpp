// Draws a timeline as a staircase of equal ticks.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "report/text_report.h"

namespace headrace {
namespace {

/// Times closer than this part of the makespan are the same instant.
constexpr double kSame = 1e-7;

std::vector<TimelineEvent> compute_events(const Timeline& timeline) {
  std::vector<TimelineEvent> events;
  std::ranges::copy_if(timeline.events, std::back_inserter(events),
                       [](const TimelineEvent& event) { return is_compute(event.action.kind); });
  return events;
}

/// Largest time that divides both, for times that are multiples of one but for rounding.
double common_divisor(double a, double b, double nothing) {
  while (b > nothing) {
    double rest = std::fmod(a, b);
    if (b - rest < nothing) rest = 0;
    a = std::exchange(b, rest);
  }
  return a;
}

/// Every start and end is a multiple of the tick; nothing when more than `most` ticks are needed.
std::optional<double> tick_of(const std::vector<TimelineEvent>& events, double origin,
                              double makespan, int most) {
  const double nothing = makespan * kSame;
  double tick = makespan;
  for (const TimelineEvent& event : events) {
    tick = common_divisor(tick, event.start.value() - origin, nothing);
    tick = common_divisor(tick, event.end.value() - origin, nothing);
    if (tick * most < makespan) return std::nullopt;
  }
  return tick;
}

bool has_one_stage_per_device(const Timeline& timeline) {
  return std::ranges::all_of(timeline.events, [](const TimelineEvent& event) {
    return number_of(event.device) == number_of(event.action.stage);
  });
}

std::string cell_text(const Action& action, bool with_stage) {
  if (with_stage) return to_string(action);
  return fmt::format("{}{}", name_of(action.kind), number_of(action.microbatch));
}

}  // namespace

std::string staircase_text(const Timeline& timeline, int width) {
  const std::vector<TimelineEvent> events = compute_events(timeline);
  const double makespan = makespan_of(timeline).value();
  if (events.empty() || !(makespan > 0)) return {};
  const double origin = std::ranges::min(events, {}, &TimelineEvent::start).start.value();

  const auto tick = tick_of(events, origin, makespan, width);
  if (!tick) return {};
  const auto ticks = static_cast<std::size_t>(std::llround(makespan / *tick));
  const bool with_stage = !has_one_stage_per_device(timeline);
  const std::vector<std::string> idle(ticks, ".");
  std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(timeline.devices), idle);
  std::size_t cell_width = 1;
  for (const TimelineEvent& event : events) {
    const auto first =
        static_cast<std::size_t>(std::llround((event.start.value() - origin) / *tick));
    const auto last = static_cast<std::size_t>(std::llround((event.end.value() - origin) / *tick));
    const std::string name = cell_text(event.action, with_stage);
    cell_width = std::max(cell_width, name.size());
    std::vector<std::string>& row = cells[index_of(event.device)];
    for (std::size_t column = first; column < last; ++column) {
      row[column] = column == first ? name : "-";
    }
  }

  std::string text;
  for (std::size_t device = 0; device < cells.size(); ++device) {
    std::string line = fmt::format("{} {} |", with_stage ? "device" : "stage", device);
    for (const std::string& cell : cells[device]) {
      line += fmt::format(" {:<{}}", cell, cell_width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.size() > static_cast<std::size_t>(width)) return {};
    text += line + '\n';
  }
  return text;
}

}  // namespace headrace
