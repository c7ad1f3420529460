// A list scheduler: plays a pipeline in order of time, every device doing the best it can by rules.
#pragma once

#include <optional>
#include <vector>

#include "simulator/schedules/automatic_orders.h"

namespace headrace {

/// What a device with several things to do does first.
enum class ListPriority {
  kBackward,  ///< I before F, later stages before earlier ones.
  kForward,   ///< F before I.
  kArrival,   ///< What has waited longest.
};

/// A repeating drawing: F of micro-batch m of stage s belongs at m * period + forward[s], its I at
/// m * period + input[s].
struct ListPattern {
  double period = 6;
  std::vector<double> forward;
  std::vector<double> input;
};

/// The parameters of one run. Counts of device d of P are base + slope x distance, the distance
/// being P - 1 - d for `in_flight` and d for the others.
struct ListRules {
  struct Line {
    double base = 0;
    double slope = 0;
    [[nodiscard]] int at(int distance) const { return static_cast<int>(base + slope * distance); }
    friend bool operator==(const Line&, const Line&) = default;
  };
  ListPriority priority = ListPriority::kBackward;
  Line in_flight = {.base = 1e8};  ///< Most forwards of a stage whose I has not begun.
  Line backlog = {.base = 1e8};    ///< W that may wait; one more and W goes first.
  Line reserve = {.base = 1};      ///< Activations kept free for the later stages of a device.
  double weight_patience = 1;      ///< An F or I that arrives within this share of W stops a W.
  double forward_patience = 0;     ///< An I that arrives within this share of F stops an F.
  /// Where there is one, places decide what goes first, and `forward_patience` is that of anything
  /// for what belongs before it.
  const ListPattern* pattern = nullptr;
};

/// Orders within the limits of `task`, or nothing where the limits hold not even one micro-batch
/// of every stage. No device waits for ever: each stage takes micro-batches first in first out, and
/// a device keeps room for one of each of its later stages, so the oldest one always goes on.
/// O(actions log devices), linear memory. Deterministic.
std::optional<Orders> list_orders(const PipelineTask& task, const ListRules& rules);

}  // namespace headrace
