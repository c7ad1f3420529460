// Profile documents and their fingerprint.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/json/common_fields.h"
#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/sha256.h"
#include "core/text.h"

namespace headrace {
namespace {

/// An edge as documents have it: the ends by name.
struct NamedEdge {
  std::string from;
  std::string to;
  Bytes bytes{0};
};

/// A profile as documents have it: the graph in parts.
struct ProfileParts {
  Profile head;
  std::vector<Layer> layers;
  std::vector<NamedEdge> edges;
};

/// The keys that `origins` may speak of.
constexpr std::array<std::string_view, 11> kNumbersOfLayer = {"forward",
                                                              "backward",
                                                              "input_grad",
                                                              "weight_grad",
                                                              "parameter_bytes",
                                                              "gradient_bytes",
                                                              "optimizer_bytes",
                                                              "output_bytes",
                                                              "saved_activation_bytes",
                                                              "workspace_bytes",
                                                              "deferred_weight_grad_bytes"};

}  // namespace

template <typename At>
void describe(At& at, Of<Layer> auto& layer) {
  at.required("id", layer.id);
  at.optional("kind", layer.kind);
  at.required("forward", layer.forward);
  at.required("backward", layer.backward);
  at.optional("input_grad", layer.input_grad);
  at.optional("weight_grad", layer.weight_grad);
  at.required("parameter_bytes", layer.parameters);
  at.required("gradient_bytes", layer.gradients);
  at.required("optimizer_bytes", layer.optimizer);
  at.required("saved_activation_bytes", layer.saved_activation);
  at.required("output_bytes", layer.output);
  at.defaulted("workspace_bytes", layer.workspace);
  at.optional("deferred_weight_grad_bytes", layer.deferred_weight_grad);
  at.optional("tie_group", layer.tie_group);
  at.defaulted("frozen", layer.frozen);
  at.optional("same_as", layer.same_as);
  at.defaulted("origin", layer.origin);
  at.optional("origins", layer.origins);
}

namespace {

template <typename At>
void describe(At& at, Of<NamedEdge> auto& edge) {
  at.required("from", edge.from);
  at.required("to", edge.to);
  at.required("bytes", edge.bytes);
}

}  // namespace

template <typename At>
void describe(At& at, Of<ProfiledDevice> auto& device) {
  at.required("kind", device.kind);
  at.defaulted("name", device.name);
  at.defaulted("count", device.count, kAtLeastOne);
  at.optional("driver", device.driver);
  at.optional("software", device.software);
}

namespace {

template <typename At>
void describe(At& at, Of<ProfileParts> auto& parts) {
  auto& head = parts.head;
  at.required("model", head.model);
  at.required("device", head.device);
  at.required("dtype", head.dtype);
  at.required("micro_batch_size", head.micro_batch_size, kAnyPositive);
  at.defaulted("sequence_length", head.sequence_length, kAnyCount);
  at.optional("fingerprint", head.fingerprint);
  at.optional("link", head.link);
  at.optional("optimizer", head.optimizer);
  at.optional("optimizer_step", head.optimizer_step);
  at.required("layers", parts.layers);
  at.required("edges", parts.edges);
}

ProfileParts parts_of(const Profile& profile) {
  ProfileParts parts{.head = profile};
  parts.head.graph = {};
  parts.layers.assign(profile.graph.layers().begin(), profile.graph.layers().end());
  for (const LayerEdge& edge : profile.graph.edges()) {
    parts.edges.push_back({.from = profile.graph.layer(edge.from).id,
                           .to = profile.graph.layer(edge.to).id,
                           .bytes = edge.bytes});
  }
  return parts;
}

using Positions = std::unordered_map<std::string_view, LayerId>;

Positions positions_of(const std::vector<Layer>& layers) {
  Positions positions;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    positions.emplace(layers[i].id, LayerId{static_cast<int>(i)});
  }
  return positions;
}

void fail_no_layer(const Place& place, const std::vector<Layer>& layers, std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Layer& layer : layers) ids.push_back(layer.id);
  place.fail(
      fmt::format("'{}' is no layer of this profile{}", printable(id), did_you_mean(id, ids)),
      "use the id of a listed layer");
}

void check_layers(const Place& root, const std::vector<Layer>& layers, const Positions& positions) {
  const Place list(root, "layers");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Place at(list, i);
    if (!layers[i].same_as.empty() && !positions.contains(layers[i].same_as)) {
      fail_no_layer(Place(at, "same_as"), layers, layers[i].same_as);
    }
    for (const auto& [key, origin] : layers[i].origins) {
      if (std::ranges::find(kNumbersOfLayer, key) != kNumbersOfLayer.end()) continue;
      const Place origins(at, "origins");
      Place(origins, key)
          .fail(fmt::format("'{}' is no number of a layer{}", printable(key),
                            did_you_mean(key, kNumbersOfLayer)),
                "name a key of the layer, such as \"forward\"");
    }
  }
}

/// Puts the graph together; problems go to `root`.
ModelGraph graph_of(const Place& root, ProfileParts parts) {
  if (parts.layers.empty()) {
    Place(root, "layers").fail("a profile without layers", "list at least one layer");
  }
  const Positions positions = positions_of(parts.layers);
  check_layers(root, parts.layers, positions);
  std::vector<LayerEdge> edges;
  const Place list(root, "edges");
  for (std::size_t i = 0; i < parts.edges.size() && !root.failed(); ++i) {
    const Place at(list, i);
    const NamedEdge& edge = parts.edges[i];
    const auto from = positions.find(edge.from);
    const auto to = positions.find(edge.to);
    if (from == positions.end()) {
      fail_no_layer(Place(at, "from"), parts.layers, edge.from);
    } else if (to == positions.end()) {
      fail_no_layer(Place(at, "to"), parts.layers, edge.to);
    } else {
      edges.push_back({.from = from->second, .to = to->second, .bytes = edge.bytes});
    }
  }
  auto graph = ModelGraph::build(std::move(parts.layers), std::move(edges));
  if (graph) return std::move(*graph);
  root.adopt(graph.error());
  return {};
}

}  // namespace

Result<Profile> profile_from_json(std::string_view text, std::string_view source) {
  return read_document<Profile>(text, source, "profile",
                                [](ObjectReader& document, Profile& profile) {
                                  ProfileParts parts;
                                  describe(document, parts);
                                  document.finish();
                                  if (document.place().failed()) return;
                                  profile = parts.head;
                                  profile.graph = graph_of(document.place(), std::move(parts));
                                });
}

std::string to_json(const Profile& profile) {
  return write_document(parts_of(profile), "profile");
}

std::string fingerprint_of(const Profile& profile) {
  ProfileParts parts = parts_of(profile);
  parts.head.fingerprint.clear();
  parts.head.model.source.clear();  // Where the file lay decides nothing.
  return sha256_hex(written(parts).dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

}  // namespace headrace
