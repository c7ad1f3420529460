// The iteration time as a band: many simulations with random action times.
#pragma once

#include <cstdint>

#include "core/result.h"
#include "core/simulation.h"
#include "simulator/simulate.h"

namespace headrace {

/// With this probability something is this many times slower, for a whole iteration.
struct Slowdown {
  double probability = 0;
  double factor = 1;
};

struct ReplicaOptions {
  int replicas = 200;      ///< At least 1.
  std::uint64_t seed = 0;  ///< Equal seeds give equal bands, whatever the thread count.
  int threads = 1;
  double coverage = 0.9;    ///< Share of the replicas between low and high; in (0, 1).
  Slowdown straggler = {};  ///< Of every device.
  Slowdown slow_link = {};  ///< Of the messages over every border between stages.
};

/// Simulates `replicas` iterations in which every action's time is drawn anew: one of the stage's
/// measured samples where there are any, else lognormal with its mean and spread
/// (StageCost::…_spread; 0 keeps the mean); times given action by action are kept. Draws are
/// independent, so the median lies above the simulation of the means: a pipeline runs at the pace
/// of the slowest. O(replicas x actions). Fails as `simulate`, and with kUsage on options out of
/// range.
Result<Band> iteration_band(const SimulationInput& input, const ReplicaOptions& options);

}  // namespace headrace
