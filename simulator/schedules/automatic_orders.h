// Orders of F, I and W on every device: how long they take and how much they hold.
#pragma once

#include <optional>
#include <vector>

#include "core/schedule.h"
#include "core/units.h"
#include "simulator/schedule_costs.h"

namespace headrace {

/// One list of F, I and W per device, as Schedule::rows.
using Orders = std::vector<std::vector<Action>>;

/// Both objectives of one set of orders.
struct OrderTimes {
  Seconds makespan{0};
  Seconds span{0};
  [[nodiscard]] Seconds of(ScheduleObjective objective) const {
    return objective == ScheduleObjective::kSpan ? span : makespan;
  }
  friend bool operator==(const OrderTimes&, const OrderTimes&) = default;
};

/// Times `orders` as the simulator does with asynchronous messages; nothing where they wait for one
/// another. O(actions).
std::optional<OrderTimes> time_orders(const PipelineTask& task, const Orders& orders);

/// Most that each device holds at once, in units of ScheduleCosts::activation. O(actions).
std::vector<double> peak_held(const PipelineTask& task, const Orders& orders);

/// The same of one row.
double peak_of_row(const PipelineTask& task, const std::vector<Action>& row);

/// True when no device holds more than its limit.
bool within_limit(const PipelineTask& task, const Orders& orders);

/// Sums of shares lose some digits; what is this little above the limit is within it.
constexpr double kHeldTolerance = 1e-9;

}  // namespace headrace
