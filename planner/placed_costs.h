// What a cut costs devices with several stages each, without building its plan.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cluster.h"
#include "core/units.h"
#include "planner/chain_costs.h"
#include "planner/chain_probe.h"
#include "planner/planner.h"

namespace headrace {

/// Adds up ChainCosts by device; memory is that of PlanBuilder::device_memory to the byte.
class PlacedCosts {
 public:
  /// `request` must outlive this; `problem` is its chain on this cluster.
  PlacedCosts(const ChainProblem& problem, const Cluster& cluster, const PlanRequest& request);

  /// Nanoseconds of a micro-batch on the busiest device. O(stages).
  [[nodiscard]] std::int64_t busiest(const Borders& borders) const;

  /// Bytes over the capacity, added up over devices. O(stages x combinations held).
  [[nodiscard]] Bytes missing(const Borders& borders) const;

  /// Bytes over all inner borders.
  [[nodiscard]] Bytes sent(const Borders& borders) const;

 private:
  struct Place {
    bool limited = false;
    std::int64_t capacity = 0;  ///< Margin taken off.
    std::vector<int> stages;
  };

  [[nodiscard]] std::int64_t memory_of(std::size_t device, const Borders& borders) const;

  const PlanRequest& request_;
  ChainCosts chain_;
  std::vector<Place> places_;
};

}  // namespace headrace
