#include "interop/pipedream.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "interop/pipedream_lines.h"

namespace headrace {
namespace {

constexpr int kBytesPerParameter = 4;  // PipeDream profiles are fp32.

struct PlacedNode {
  PipedreamNode node;
  int line = 0;
};

struct PlacedEdge {
  PipedreamEdge edge;
  int line = 0;
};

struct Lines {
  std::vector<PlacedNode> nodes;
  std::vector<PlacedEdge> edges;
};

Result<Lines> read_lines(std::string_view text, std::string_view source) {
  Lines lines;
  LinePlace place{.source = source};
  while (!text.empty()) {
    ++place.number;
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (line.front() == '\t' || line.front() == ' ') {
      const auto edge = edge_from_line(line, place);
      if (!edge) return Failure(edge.error());
      lines.edges.push_back({*edge, place.number});
    } else {
      const auto node = node_from_line(line, place);
      if (!node) return Failure(node.error());
      lines.nodes.push_back({*node, place.number});
    }
  }
  if (lines.nodes.empty()) {
    return bad_line({.source = source, .number = 1}, "no node in the file",
                    "give a PipeDream graph.txt");
  }
  return lines;
}

/// The number at the end of "node12"; ids without one come last, in the order of the file.
std::uint64_t number_at_end(std::string_view id) {
  const auto last_letter = id.find_last_not_of("0123456789");
  const std::string_view digits =
      id.substr(last_letter == std::string_view::npos ? 0 : last_letter + 1);
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Result<std::map<std::string_view, LayerId>> ids_of(const std::vector<PlacedNode>& nodes,
                                                   std::string_view source) {
  std::map<std::string_view, LayerId> ids;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto [first, fresh] = ids.emplace(nodes[i].node.id, LayerId{static_cast<int>(i)});
    if (fresh) continue;
    const auto [earlier, later] = std::minmax(nodes[i].line, nodes[index_of(first->second)].line);
    return bad_line(
        {.source = source, .number = later},
        fmt::format("node '{}' is listed twice (also line {})", nodes[i].node.id, earlier),
        "give every node an id of its own");
  }
  return ids;
}

Result<std::vector<LayerEdge>> edges_of(const Lines& lines,
                                        const std::map<std::string_view, LayerId>& ids,
                                        std::string_view source) {
  std::vector<LayerEdge> edges;
  std::set<std::pair<LayerId, LayerId>> seen;
  for (const auto& [edge, line] : lines.edges) {
    const LinePlace place{.source = source, .number = line};
    for (const std::string_view end : {edge.from, edge.to}) {
      if (!ids.contains(end)) {
        return bad_line(place,
                        fmt::format("edge '{} -- {}': no node '{}'", edge.from, edge.to, end),
                        "add the node or remove the edge");
      }
    }
    const LayerId from = ids.at(edge.from);
    const LayerId to = ids.at(edge.to);
    if (!seen.emplace(from, to).second) {
      return bad_line(place, fmt::format("edge '{} -- {}' is listed twice", edge.from, edge.to),
                      "remove one of the two");
    }
    const Bytes output(lines.nodes[index_of(from)].node.activation_bytes);
    edges.push_back({.from = from, .to = to, .bytes = output});
  }
  return edges;
}

/// One edge of some cycle, if there is a cycle: layers without predecessors are taken away until
/// none is left to take, then predecessors are followed until one comes round again.
std::optional<std::size_t> edge_on_cycle(std::size_t layers, const std::vector<LayerEdge>& edges) {
  std::vector<std::vector<std::size_t>> leaving(layers);
  std::vector<int> missing(layers, 0);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    leaving[index_of(edges[e].from)].push_back(e);
    ++missing[index_of(edges[e].to)];
  }
  std::vector<std::size_t> ready;
  for (std::size_t v = 0; v < layers; ++v) {
    if (missing[v] == 0) ready.push_back(v);
  }
  std::size_t placed = 0;
  for (; placed < ready.size(); ++placed) {
    for (const std::size_t e : leaving[ready[placed]]) {
      if (--missing[index_of(edges[e].to)] == 0) ready.push_back(index_of(edges[e].to));
    }
  }
  if (placed == layers) return std::nullopt;
  std::vector<std::size_t> entering(layers, edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (missing[index_of(edges[e].from)] > 0) entering[index_of(edges[e].to)] = e;
  }
  std::size_t v = 0;
  while (missing[v] == 0) ++v;
  for (std::size_t step = 0; step < layers; ++step) v = index_of(edges[entering[v]].from);
  return entering[v];
}

Layer layer_of(const PipedreamNode& node) {
  Layer layer;
  layer.id = std::string(node.id);
  layer.kind = std::string(node.description);
  layer.forward.mean = Seconds(node.forward_ms / 1e3);
  layer.backward.mean = Seconds(node.backward_ms / 1e3);
  layer.parameters = Bytes(node.parameter_bytes);
  layer.gradients = layer.parameters;
  layer.output = Bytes(node.activation_bytes);
  layer.saved_activation = layer.output;
  layer.origin = Origin::kImported;
  for (const char* key :
       {"gradient_bytes", "optimizer_bytes", "saved_activation_bytes", "workspace_bytes"}) {
    layer.origins.emplace(key, Origin::kAssumed);
  }
  return layer;
}

/// Where `/edges` is all that the graph can say, the line of an edge on the cycle says more.
Result<ModelGraph> build_graph(std::vector<Layer> layers, std::vector<LayerEdge> edges,
                               const Lines& lines, std::string_view source) {
  const auto cyclic = edge_on_cycle(layers.size(), edges);
  auto graph = ModelGraph::build(std::move(layers), std::move(edges));
  if (graph) return graph;
  const int line = cyclic ? lines.edges[*cyclic].line : 1;
  return bad_line({.source = source, .number = line}, graph.error().what, graph.error().fix);
}

std::string milliseconds(Seconds time) {
  const std::int64_t nanoseconds = std::llround(time.value() * 1e9);
  constexpr std::int64_t kMicrosecond = 1000;
  const double value = static_cast<double>(nanoseconds) / 1e6;
  return nanoseconds % kMicrosecond == 0 ? fmt::format("{:.3f}", value)
                                         : fmt::format("{:.6f}", value);
}

/// The format's separator and line ends cannot stand in a name.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  for (auto found = text.find(" -- "); found != std::string::npos; found = text.find(" -- ")) {
    text.replace(found, 4, " - ");
  }
  return text;
}

}  // namespace

Result<PipedreamGraph> graph_from_pipedream(std::string_view text, std::string_view source) {
  auto lines = read_lines(text, source);
  if (!lines) return Failure(lines.error());
  std::ranges::stable_sort(lines->nodes, {},
                           [](const PlacedNode& placed) { return number_at_end(placed.node.id); });
  const auto ids = ids_of(lines->nodes, source);
  if (!ids) return Failure(ids.error());
  auto edges = edges_of(*lines, *ids, source);
  if (!edges) return Failure(edges.error());

  PipedreamGraph result;
  std::vector<Layer> layers;
  for (const PlacedNode& placed : lines->nodes) {
    layers.push_back(layer_of(placed.node));
    result.stage_of_layer.push_back(placed.node.stage);
    result.profile.model.parameters += placed.node.parameter_bytes / kBytesPerParameter;
  }
  auto graph = build_graph(std::move(layers), std::move(*edges), *lines, source);
  if (!graph) return Failure(graph.error());
  result.profile.graph = std::move(*graph);
  result.profile.model.name = std::string(source);
  result.profile.model.source = std::string(source);
  result.profile.device = {.kind = "imported", .name = "not named in the file"};
  return result;
}

Result<Profile> profile_from_pipedream(std::string_view text, std::string_view source) {
  auto graph = graph_from_pipedream(text, source);
  if (!graph) return Failure(graph.error());
  return std::move(graph->profile);
}

std::string pipedream_text(const Profile& profile, std::span<const int> stage_of_layer) {
  const auto layers = profile.graph.layers();
  HEADRACE_CHECK(stage_of_layer.size() == layers.size(), "every layer has a stage");
  std::string text;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    text += fmt::format(
        "{} -- {} -- forward_compute_time={}, backward_compute_time={}, activation_size={}.000, "
        "parameter_size={}.000 -- stage_id={}\n",
        one_line(layer.id), one_line(layer.kind), milliseconds(layer.forward.mean),
        milliseconds(layer.backward.mean), layer.output.value(), layer.parameters.value(),
        stage_of_layer[i]);
  }
  for (const LayerEdge& edge : profile.graph.edges()) {
    text += fmt::format("\t{} -- {}\n", one_line(profile.graph.layer(edge.from).id),
                        one_line(profile.graph.layer(edge.to).id));
  }
  return text;
}

}  // namespace headrace
