// The splits that frameworks make when nobody plans: what a plan is compared with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model_graph.h"
#include "planner/chain_probe.h"

namespace headrace {

struct DefaultSplit {
  std::string name;  ///< "equal-layers", "torchtitan", "equal-parameters".
  std::string rule;  ///< What it does, in a few words.
  Borders borders;
};

/// The defaults that can be made for a chain, without empty stages:
/// - equal-layers: equal numbers of decoders, one more on the first stages where it does not divide
///   (Megatron, DeepSpeed `uniform`); what stands before the first decoder goes to the first stage,
///   what stands after the last to the last. Layers are counted where there are no decoders.
/// - torchtitan: embedding and head count as one layer each; left out where it equals the first.
/// - equal-parameters: DeepSpeed's `parameters`, the smallest spread of parameter bytes; left out
///   where no layer has parameters or the chain is so long that it would take seconds.
/// One stage has no default worth naming. Order as listed.
std::vector<DefaultSplit> default_splits(const ModelGraph& graph, int stages);

/// Layer counts per stage as torchtitan makes them (generate_llm_fqn_per_model_part with both
/// less_layers options at 1): decoders only. Needs decoders + 2 >= stages >= 2.
std::vector<int> torchtitan_counts(int decoders, int stages);

/// Equal counts, one more on the first stages where it does not divide.
std::vector<int> equal_counts(int layers, int stages);

/// DeepSpeed's partition_balanced as of 2026: minimises largest minus smallest stage, which is not
/// the slowest stage; kept for contrast. O(layers^2 * stages); needs more weights than stages.
Borders smallest_spread(std::span<const std::int64_t> weights, int stages);

}  // namespace headrace
