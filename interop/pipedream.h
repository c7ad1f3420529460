// PipeDream's graph.txt, read and written: nodes with times and sizes, edges, and stage numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile.h"
#include "core/result.h"

namespace headrace {

/// A graph.txt: its profile, and the stage that the file gives each layer (by LayerId), if any.
struct PipedreamGraph {
  Profile profile;
  std::vector<std::optional<int>> stage_of_layer;
};

/// Reads lines
///   ID -- DESCRIPTION -- forward_compute_time=MS, backward_compute_time=MS,
///         activation_size=BYTES, parameter_size=BYTES[ -- stage_id=K]
/// (one line) and indented edges "SRC -- DST", in any order; a size may be a list "[a; b]", which
/// is added up. DAPPLE's variations are accepted: numbers with or without decimals, trailing
/// blanks, edges indented by blanks. Layers are ordered by the number at the end of their id, so
/// that the chain order is the topological order with the smallest number first.
///
/// Every number is `imported`, but gradients (as large as the parameters), optimizer state (0:
/// unknown), saved activations (the output, which is what PipeDream stashes) and workspace (0),
/// which are `assumed`. Times are per micro-batch of the profiled run; its size is not in the file.
///
/// Fails with kBadInput at "source:LINE" with the offending text: a malformed line, a number that
/// is none, negative or too large, a node listed twice, an edge to nowhere or listed twice, a
/// cycle, no node at all. O(nodes log nodes + edges log edges).
Result<PipedreamGraph> graph_from_pipedream(std::string_view text, std::string_view source);

/// The profile alone.
Result<Profile> profile_from_pipedream(std::string_view text, std::string_view source);

/// The same format with " -- stage_id=K" on every node, as PipeDream's optimizer writes it; one
/// entry of `stage_of_layer` per layer of the profile. Times are rounded to nanoseconds and written
/// with three decimals where that is exact, with six elsewhere. Reading it back gives equal times,
/// sizes, edges and stages.
std::string pipedream_text(const Profile& profile, std::span<const int> stage_of_layer);

}  // namespace headrace
