#include "core/model_graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <fmt/core.h>

namespace headrace {
namespace {

using CsrGraph = boost::compressed_sparse_row_graph<boost::directedS>;

Failure bad(std::string where, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

CsrGraph to_boost(std::size_t layers, std::span<const LayerEdge> edges) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  pairs.reserve(edges.size());
  for (const LayerEdge& edge : edges) pairs.emplace_back(index_of(edge.from), index_of(edge.to));
  return {boost::edges_are_unsorted_multi_pass, pairs.begin(), pairs.end(), layers};
}

/// Kahn's algorithm with a heap: the smallest position that is ready comes next. Shorter than the
/// graph when there is a cycle.
std::vector<LayerId> smallest_first_order(const CsrGraph& graph) {
  const std::size_t layers = boost::num_vertices(graph);
  std::vector<int> missing(layers, 0);
  for (std::size_t v = 0; v < layers; ++v) {
    for (auto [e, end] = boost::out_edges(v, graph); e != end; ++e) {
      ++missing[boost::target(*e, graph)];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t v = 0; v < layers; ++v) {
    if (missing[v] == 0) ready.push(v);
  }
  std::vector<LayerId> order;
  order.reserve(layers);
  while (!ready.empty()) {
    const std::size_t v = ready.top();
    ready.pop();
    order.push_back(LayerId{static_cast<int>(v)});
    for (auto [e, end] = boost::out_edges(v, graph); e != end; ++e) {
      if (--missing[boost::target(*e, graph)] == 0) ready.push(boost::target(*e, graph));
    }
  }
  return order;
}

/// One cycle as "a -> b -> a". Called only when there is one. Follows, from any layer that the
/// order could not place, predecessors that could not be placed either.
std::string name_cycle(std::span<const Layer> layers, std::span<const LayerEdge> edges,
                       std::span<const LayerId> placed) {
  std::vector<bool> stuck(layers.size(), true);
  for (const LayerId id : placed) stuck[index_of(id)] = false;
  std::vector<std::size_t> previous(layers.size(), layers.size());
  for (const LayerEdge& edge : edges) {
    if (stuck[index_of(edge.from)]) previous[index_of(edge.to)] = index_of(edge.from);
  }
  std::size_t at =
      static_cast<std::size_t>(std::find(stuck.begin(), stuck.end(), true) - stuck.begin());
  for (std::size_t step = 0; step < layers.size(); ++step) at = previous[at];  // Now on the cycle.
  std::string path = layers[at].id;
  for (std::size_t v = previous[at]; v != at; v = previous[v]) path = layers[v].id + " -> " + path;
  return layers[at].id + " -> " + path;
}

Result<void> check_layers(std::span<const Layer> layers) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string where = fmt::format("/layers/{}/id", i);
    if (layers[i].id.empty()) return bad(where, "a layer without id", "name the layer");
    const auto [first, fresh] = seen.emplace(layers[i].id, i);
    if (!fresh) {
      return bad(
          where,
          fmt::format("layer id '{}' is used twice (also /layers/{})", layers[i].id, first->second),
          "give every layer an id of its own");
    }
  }
  return {};
}

Result<void> check_edges(std::span<const Layer> layers, std::span<const LayerEdge> edges) {
  std::set<std::pair<LayerId, LayerId>> seen;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::string where = fmt::format("/edges/{}", i);
    for (const LayerId end : {edges[i].from, edges[i].to}) {
      if (number_of(end) < 0 || index_of(end) >= layers.size()) {
        return bad(where,
                   fmt::format("edge to layer {}, there are {}", number_of(end), layers.size()),
                   "remove the edge or add the layer");
      }
    }
    if (edges[i].from == edges[i].to) {
      return bad(where, fmt::format("edge of '{}' to itself", layers[index_of(edges[i].to)].id),
                 "remove the edge");
    }
    if (!seen.emplace(edges[i].from, edges[i].to).second) {
      return bad(where,
                 fmt::format("edge '{}' -> '{}' is listed twice",
                             layers[index_of(edges[i].from)].id, layers[index_of(edges[i].to)].id),
                 "merge the two edges and add their bytes");
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::kMeasured:
      return "measured";
    case Origin::kInterpolated:
      return "interpolated";
    case Origin::kCatalogue:
      return "catalogue";
    case Origin::kAssumed:
      return "assumed";
    case Origin::kImported:
      return "imported";
  }
  return "assumed";
}

std::optional<Origin> origin_from_name(std::string_view name) {
  for (const Origin origin : {Origin::kMeasured, Origin::kInterpolated, Origin::kCatalogue,
                              Origin::kAssumed, Origin::kImported}) {
    if (name_of(origin) == name) return origin;
  }
  return std::nullopt;
}

Result<ModelGraph> ModelGraph::build(std::vector<Layer> layers, std::vector<LayerEdge> edges) {
  if (auto ok = check_layers(layers); !ok) return Failure(ok.error());
  if (auto ok = check_edges(layers, edges); !ok) return Failure(ok.error());
  std::vector<LayerId> order = smallest_first_order(to_boost(layers.size(), edges));
  if (order.size() < layers.size()) {
    return bad("/edges", fmt::format("cycle {}", name_cycle(layers, edges, order)),
               "remove one edge of the cycle");
  }
  ModelGraph graph;
  graph.layers_ = std::move(layers);
  graph.edges_ = std::move(edges);
  graph.chain_order_ = std::move(order);
  return graph;
}

std::optional<LayerId> ModelGraph::find(std::string_view id) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].id == id) return LayerId{static_cast<int>(i)};
  }
  return std::nullopt;
}

std::vector<Bytes> ModelGraph::border_bytes() const {
  std::vector<std::size_t> position(layers_.size());
  for (std::size_t k = 0; k < chain_order_.size(); ++k) position[index_of(chain_order_[k])] = k;
  // last_use[v]: position of v's last consumer; size[v]: bytes relayed until there.
  std::vector<std::size_t> last_use(position);
  std::vector<Bytes> size(layers_.size());
  for (std::size_t v = 0; v < layers_.size(); ++v) size[v] = layers_[v].output;
  for (const LayerEdge& edge : edges_) {
    const std::size_t from = index_of(edge.from);
    last_use[from] = std::max(last_use[from], position[index_of(edge.to)]);
    size[from] = std::max(size[from], edge.bytes);
  }
  std::vector<Bytes> change(layers_.size() + 2, Bytes{0});
  for (std::size_t v = 0; v < layers_.size(); ++v) {
    if (last_use[v] == position[v]) continue;
    change[position[v] + 1] += size[v];
    change[last_use[v] + 1] -= size[v];
  }
  std::vector<Bytes> border(layers_.size() + 1, Bytes{0});
  for (std::size_t k = 1; k < border.size(); ++k) border[k] = border[k - 1] + change[k];
  return border;
}

}  // namespace headrace
