// What a cut costs devices with several stages each, without building its plan: prefix sums.
#pragma once

#include <vector>

#include "core/cluster.h"
#include "core/profile.h"
#include "core/units.h"
#include "planner/chain_probe.h"
#include "planner/planner.h"

namespace headrace {

/// The same numbers as those of PlanBuilder's plans, up to the rounding of sums. Tied layers are
/// counted as if untied, so that `missing` may then be too large. O(layers log layers) to build.
class PlacedCosts {
 public:
  PlacedCosts(const Profile& profile, const Cluster& cluster, const PlanRequest& request);

  /// Time of a micro-batch on the busiest device. O(stages).
  [[nodiscard]] Seconds busiest(const Borders& borders) const;

  /// Bytes over the capacity, added up over devices. O(stages x combinations held).
  [[nodiscard]] Bytes missing(const Borders& borders) const;

  /// Bytes over all inner borders.
  [[nodiscard]] Bytes sent(const Borders& borders) const;

  [[nodiscard]] bool has_ties() const { return has_ties_; }

 private:
  struct Place {
    double speed = 1;
    bool limited = false;
    std::int64_t capacity = 0;  ///< Margin taken off.
    std::vector<int> stages;
  };

  [[nodiscard]] std::int64_t largest_workspace(int first, int last) const;
  [[nodiscard]] std::int64_t missing_on(std::size_t device, const Borders& borders) const;

  const PlanRequest& request_;
  std::vector<Place> places_;
  std::vector<double> time_;         ///< Prefix sums by border.
  std::vector<std::int64_t> state_;  ///< Parameters, gradients, optimizer.
  std::vector<std::int64_t> activation_;
  std::vector<std::int64_t> border_;                  ///< Bytes of the tensor that crosses.
  std::vector<std::vector<std::int64_t>> workspace_;  ///< [k][i]: largest of [i, i + 2^k).
  bool has_ties_ = false;
};

}  // namespace headrace
