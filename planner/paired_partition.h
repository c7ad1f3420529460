// Cuts a chain of layers for devices that hold two stages each: interleaved and V placements.
#pragma once

#include <cstdint>
#include <span>

#include "planner/chain_probe.h"

namespace headrace {

/// Where the 2 P stages of P devices stand.
enum class PairPlacement {
  kLoop,  ///< Stages d and P + d on device d (interleaved).
  kV,     ///< Stages d and 2 P - 1 - d on device d (ZBV, DualPipeV).
};

struct PairedPartition {
  Borders borders;           ///< Of 2 P non-empty stages.
  std::int64_t busiest = 0;  ///< Largest sum of the two stages of a device.
  std::int64_t bound = 0;    ///< No cut is below; equal to `busiest` where `exact`.
  bool exact = false;
};

/// Minimises the busiest device over all cuts into non-empty stages; `weights` are at least 0, at
/// least 2 x `devices` of them. Exact bisection over a probe that goes through the devices and
/// keeps, for every border of the first pieces, the furthest border of the second ones; states that
/// leave the later devices more than they can take are dropped (all devices together have P T - W
/// to spare). Where the second pieces then cannot all be non-empty, all borders are kept instead of
/// the furthest. Searches of more than 2 x 10^8 steps or 10^6 states of one device end with the
/// best cut found and `exact` false. Deterministic. O(P n^3) per probe at worst; some milliseconds
/// for some hundred layers. Cross-checked against all cuts and against published profiles' optima.
PairedPartition partition_pairs(std::span<const std::int64_t> weights, int devices,
                                PairPlacement placement);

/// Largest sum of a device under `borders`.
std::int64_t busiest_pair(std::span<const std::int64_t> weights, const Borders& borders,
                          PairPlacement placement);

}  // namespace headrace
