// Draws a timeline of unit-length ticks as text, so that a test shows what it expects.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/timeline.h"

namespace headrace::testing {

/// One line per device, one cell per second; an action longer than a tick repeats as "-":
///   0 | F0 F1 .  B0 -  F2
inline std::string render(const Timeline& timeline) {
  const auto ticks = static_cast<std::size_t>(std::lround(makespan_of(timeline).value()));
  std::string text;
  for (int device = 0; device < timeline.devices; ++device) {
    std::vector<std::string> cells(ticks, ".");
    for (const TimelineEvent& event : timeline.events) {
      if (number_of(event.device) != device) continue;
      const auto from = static_cast<std::size_t>(std::lround(event.start.value()));
      const auto to = static_cast<std::size_t>(std::lround(event.end.value()));
      for (std::size_t t = from; t < to; ++t) cells[t] = "-";
      if (from < to) {
        cells[from] = std::string(name_of(event.action.kind)) +
                      std::to_string(number_of(event.action.microbatch));
      }
    }
    text += std::to_string(device) + " |";
    for (const std::string& cell : cells) text += " " + cell + std::string(cell.size() < 2, ' ');
    while (text.back() == ' ') text.pop_back();
    text += "\n";
  }
  return text;
}

}  // namespace headrace::testing
