// Cuts a chain of layers into contiguous stages so that the slowest stage is as fast as possible.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/chain_probe.h"
#include "planner/chain_problem.h"

namespace headrace {

struct ChainPartition {
  Borders borders;
  std::int64_t bottleneck = 0;    ///< Nanoseconds of the slowest stage: the optimum.
  std::int64_t border_bytes = 0;  ///< Sum over the inner borders.
  friend bool operator==(const ChainPartition&, const ChainPartition&) = default;
};

/// The exact optimum over all cuts into non-empty stages within every stage's memory; absent where
/// no cut fits in memory. Ties go to the fewest border bytes, then to the lexicographically
/// smallest borders. Whole nanoseconds and bytes, so equal inputs give equal cuts everywhere.
/// At most 63 probes (see chain_probe.h), usually fewer than 30: parametric search with exact
/// bisection, Pinar and Aykanat 2004, section 4.
std::optional<ChainPartition> partition_chain(const ChainProblem& problem);

/// The cut that comes closest to fitting in memory.
struct ChainShortfall {
  std::int64_t bytes = 0;  ///< Least memory that is missing on the worst stage; <= 0: it fits.
  int stage = 0;           ///< The first stage that misses that much.
  Borders borders;
};

/// Minimises over all cuts the largest excess over a stage's capacity. Exact. At least one stage
/// must have a capacity.
ChainShortfall smallest_shortfall(const ChainProblem& problem);

}  // namespace headrace
