#include "planner/default_splits.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace headrace {
namespace {

constexpr double kMostSpreadSteps = 2e8;  // About half a second; larger chains go without.

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

std::vector<int> decoder_positions(const ModelGraph& graph) {
  std::vector<int> positions;
  const auto order = graph.chain_order();
  for (int position = 0; position < static_cast<int>(order.size()); ++position) {
    if (graph.layer(order[at(position)]).kind == "decoder") positions.push_back(position);
  }
  return positions;
}

/// Stage s begins at its first decoder; the outer stages take what stands outside.
std::optional<Borders> borders_at_decoders(const std::vector<int>& positions,
                                           const std::vector<int>& counts, int layers) {
  Borders borders{0};
  int decoders = 0;
  for (std::size_t s = 0; s + 1 < counts.size(); ++s) {
    decoders += counts[s];
    if (counts[s] < 0 || decoders > static_cast<int>(positions.size())) return std::nullopt;
    const bool all_placed = decoders == static_cast<int>(positions.size());
    borders.push_back(all_placed ? positions.back() + 1 : positions[at(decoders)]);
  }
  borders.push_back(layers);
  const bool empty_stage =
      std::ranges::adjacent_find(borders, std::greater_equal<>()) != borders.end();
  return empty_stage ? std::nullopt : std::optional(std::move(borders));
}

Borders borders_of_counts(const std::vector<int>& counts) {
  Borders borders{0};
  for (const int count : counts) borders.push_back(borders.back() + count);
  return borders;
}

}  // namespace

std::vector<int> equal_counts(int layers, int stages) {
  std::vector<int> counts(at(stages), layers / stages);
  for (int s = 0; s < layers % stages; ++s) ++counts[at(s)];
  return counts;
}

std::vector<int> torchtitan_counts(int decoders, int stages) {
  std::vector<int> counts = equal_counts(decoders + 2, stages);
  --counts.front();
  --counts.back();
  return counts;
}

Borders smallest_spread(std::span<const std::int64_t> weights, int stages) {
  struct Cell {
    std::int64_t largest = 0;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    std::int64_t spread = std::numeric_limits<std::int64_t>::max();
    int begin = 0;
  };
  const auto layers = static_cast<int>(weights.size());
  std::vector<std::int64_t> sums(at(layers) + 1, 0);
  for (std::size_t i = 0; i < weights.size(); ++i) sums[i + 1] = sums[i] + weights[i];
  // cells[j][i]: the best known split of the first i layers into j stages. The spread of a prefix
  // is not a lower bound of the whole, so this is not exact; it is what the framework does.
  std::vector<std::vector<Cell>> cells(at(stages) + 1, std::vector<Cell>(at(layers) + 1));
  cells[0][0].spread = 0;
  for (int j = 1; j <= stages; ++j) {
    for (int i = j; i <= layers; ++i) {
      Cell& cell = cells[at(j)][at(i)];
      for (int k = j - 1; k < i; ++k) {
        const Cell& before = cells[at(j) - 1][at(k)];
        if (before.spread == std::numeric_limits<std::int64_t>::max()) continue;
        const std::int64_t load = sums[at(i)] - sums[at(k)];
        const std::int64_t largest = std::max(before.largest, load);
        const std::int64_t smallest = std::min(before.smallest, load);
        if (largest - smallest <= cell.spread) cell = {largest, smallest, largest - smallest, k};
      }
    }
  }
  Borders borders(at(stages) + 1, layers);
  for (int j = stages; j > 0; --j) borders[at(j) - 1] = cells[at(j)][at(borders[at(j)])].begin;
  return borders;
}

std::vector<DefaultSplit> default_splits(const ModelGraph& graph, int stages) {
  const auto layers = static_cast<int>(graph.layers().size());
  std::vector<DefaultSplit> splits;
  if (stages < 2 || layers <= stages) return splits;
  const std::vector<int> positions = decoder_positions(graph);
  const auto decoders = static_cast<int>(positions.size());
  const auto equal = decoders < stages
                         ? std::nullopt
                         : borders_at_decoders(positions, equal_counts(decoders, stages), layers);
  splits.push_back({.name = "equal-layers",
                    .rule = equal ? "equal numbers of decoders" : "equal numbers of layers",
                    .borders = equal ? *equal : borders_of_counts(equal_counts(layers, stages))});
  if (decoders >= stages) {
    auto borders = borders_at_decoders(positions, torchtitan_counts(decoders, stages), layers);
    if (borders && *borders != splits.front().borders) {
      splits.push_back({.name = "torchtitan",
                        .rule = "equal numbers with embedding and head as one layer each",
                        .borders = std::move(*borders)});
    }
  }
  std::vector<std::int64_t> parameters;
  for (const LayerId id : graph.chain_order()) {
    parameters.push_back(graph.layer(id).parameters.value());
  }
  const bool small = static_cast<double>(layers) * layers * stages <= kMostSpreadSteps;
  if (small && std::ranges::max(parameters) > 0) {
    splits.push_back({.name = "equal-parameters",
                      .rule = "smallest spread of parameters",
                      .borders = smallest_spread(parameters, stages)});
  }
  return splits;
}

}  // namespace headrace
