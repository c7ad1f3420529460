// The planner's inputs as whole numbers: what a chain of layers weighs and what its stages can
// take.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cluster.h"
#include "core/profile.h"
#include "core/result.h"
#include "planner/planner.h"

namespace headrace {

/// One layer of the chain, in nanoseconds per micro-batch on the profiled device, and in bytes.
struct ChainLayer {
  std::int64_t time = 0;        ///< Of all passes that the schedule runs.
  std::int64_t state = 0;       ///< Parameters, gradients and optimizer state.
  std::int64_t activation = 0;  ///< Per micro-batch in flight.
  std::int64_t workspace = 0;   ///< The largest one of a stage counts.
  friend bool operator==(const ChainLayer&, const ChainLayer&) = default;
};

/// One stage in its fixed place.
struct ChainStage {
  double speed = 1;  ///< A layer's time here is time / speed, rounded to whole nanoseconds.
  std::optional<std::int64_t> capacity = {};  ///< Bytes; absent: no limit.
  int in_flight = 1;                          ///< Micro-batches whose activations it holds.
  friend bool operator==(const ChainStage&, const ChainStage&) = default;
};

/// Layers `first` < `second` share `state` bytes, which a stage that holds both keeps once.
struct ChainTie {
  int first = 0;
  int second = 0;
  std::int64_t state = 0;
  friend bool operator==(const ChainTie&, const ChainTie&) = default;
};

/// A chain to cut into stages.size() non-empty contiguous stages, at most one per layer. A stage
/// [first, last) holds its state, in_flight times its activations, its largest workspace and one
/// buffer for each border tensor: border_bytes[first] + border_bytes[last].
struct ChainProblem {
  std::vector<ChainLayer> layers;
  std::vector<ChainStage> stages;
  std::vector<std::int64_t> border_bytes;  ///< layers.size() + 1 entries, 0 at both ends.
  std::vector<ChainTie> ties = {};
};

/// The problem of a profile in chain order on the devices of the cluster that the request says.
/// Stages that share a device have no capacity of their own.
/// Fails with kBadInput where times or bytes add up to more than 4e18. O(layers).
Result<ChainProblem> chain_problem(const Profile& profile, const Cluster& cluster,
                                   const PlanRequest& request);

}  // namespace headrace
