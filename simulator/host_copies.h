// When OFFLOAD and RELOAD run: one at a time per device and direction, beside everything else.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/schedule.h"

namespace headrace {

/// Empty, and free of cost, for schedules without copies.
class HostCopies {
 public:
  HostCopies(const Schedule& schedule, bool any)
      : microbatches_(static_cast<std::size_t>(schedule.microbatches)) {
    if (!any) return;
    copied_.resize(static_cast<std::size_t>(schedule.stages) * microbatches_);
    free_.resize(schedule.rows.size());
  }

  struct Span {
    double start;
    double end;
  };

  /// Runs `copy` of `device`, which gets there at `now`; a RELOAD waits for its OFFLOAD.
  Span run(std::size_t device, const Action& copy, double now, double duration) {
    double& free = free_[device][copy.kind == ActionKind::kReload ? 1 : 0];
    double& copied = copied_[place_of(copy)];
    const double start = std::max({now, free, copied});
    free = copied = start + duration;
    return {start, copied};
  }

  /// When the activations that `action` needs are on the device, as far as copies are concerned.
  [[nodiscard]] double ready(const Action& action) const {
    if (copied_.empty() || !needs_activations(action.kind)) return 0;
    return copied_[place_of(action)];
  }

 private:
  [[nodiscard]] std::size_t place_of(const Action& action) const {
    return index_of(action.stage) * microbatches_ + index_of(action.microbatch);
  }

  std::size_t microbatches_;
  std::vector<double> copied_;               ///< By stage and micro-batch: end of its last copy.
  std::vector<std::array<double, 2>> free_;  ///< By device: OFFLOAD, RELOAD.
};

}  // namespace headrace
