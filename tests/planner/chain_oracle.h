// Answers about small chains found by trying every cut: what the exact planners must equal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "planner/chain_partition.h"

namespace headrace::testing {

/// Calls `visit` with every cut of n layers into S non-empty stages, lexicographically.
void for_each_cut(int layers, int stages, const std::function<void(const Borders&)>& visit);

/// Nanoseconds and excess bytes of one stage, added up layer by layer.
std::int64_t stage_time(const ChainProblem& problem, const Borders& borders, int stage);
std::int64_t stage_memory_bytes(const ChainProblem& problem, const Borders& borders, int stage);

/// What partition_chain and smallest_shortfall promise, by exhaustive search.
std::optional<ChainPartition> best_cut_by_trying_all(const ChainProblem& problem);
std::int64_t shortfall_by_trying_all(const ChainProblem& problem);

/// What a random problem may contain.
struct ChainOptions {
  bool memory = false;
  bool any_in_flight = false;  ///< Else falling by one from stage to stage, as in 1F1B.
  bool speeds = false;         ///< And capacities that differ.
  bool wide_borders = false;   ///< Border tensors larger than layers: memory is not monotone.
  bool ties = false;
};

/// At most 9 layers and 5 stages, small numbers, so that optima are often tied.
ChainProblem random_chain(std::mt19937_64& random, const ChainOptions& options);

}  // namespace headrace::testing
