// Places weight gradients into given orders of F and I.
#pragma once

#include <optional>

#include "simulator/schedules/automatic_orders.h"

namespace headrace {

/// When a waiting W runs, and in which order.
struct FillRules {
  /// An F or I that arrives within this share of W's time is waited for.
  double patience = 1;
  /// W that may wait per device d: base + slope d; one more and W goes first. Negative: no bound.
  double backlog = -1;
  double backlog_slope = 0;
};

/// Keeps every device's order of F and I (`orders` may hold W; they are left out) and runs W where
/// the device would wait, where memory has no room for the next F, and at the end. Nothing where
/// the order waits for itself or memory holds it up for ever. O(actions log devices).
std::optional<Orders> fill_weights(const PipelineTask& task, const Orders& orders,
                                   const FillRules& rules);

}  // namespace headrace
