// The iteration time as a band: many simulations with random action times.
#pragma once

#include <cstdint>

#include "core/result.h"
#include "core/simulation.h"
#include "simulator/simulate.h"

namespace headrace {

struct ReplicaOptions {
  int replicas = 200;      ///< At least 1.
  std::uint64_t seed = 0;  ///< Equal seeds give equal bands, whatever the thread count.
  int threads = 1;
  double coverage = 0.9;  ///< Share of the replicas between low and high; in (0, 1).
};

/// Simulates `replicas` iterations in which every action's time is drawn anew: lognormal with the
/// stage's mean and spread (StageCost::…_spread; 0 keeps the mean). Draws are independent, so the
/// median lies above the simulation of the means: a pipeline runs at the pace of the slowest.
/// O(replicas x actions). Fails as `simulate`, and with kUsage on options out of range.
Result<Band> iteration_band(const SimulationInput& input, const ReplicaOptions& options);

}  // namespace headrace
