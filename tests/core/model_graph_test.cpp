#include "core/model_graph.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace headrace {
namespace {

/// "0>2" is an edge of 1 byte from layer 0 to layer 2.
struct Arrow {
  int from;
  int to;
  int bytes = 1;
};

Result<ModelGraph> graph_of(int count, const std::vector<Arrow>& arrows, int output = 1) {
  std::vector<Layer> layers;
  for (int i = 0; i < count; ++i) {
    layers.push_back({.id = std::string(1, static_cast<char>('a' + i))});
    layers.back().output = Bytes(output);
  }
  std::vector<LayerEdge> edges;
  for (const Arrow& arrow : arrows) {
    edges.push_back(
        {.from = LayerId{arrow.from}, .to = LayerId{arrow.to}, .bytes = Bytes(arrow.bytes)});
  }
  return ModelGraph::build(std::move(layers), std::move(edges));
}

std::string problem(const Result<ModelGraph>& graph) {
  return graph.has_value() ? "valid" : to_string(graph.error());
}

std::vector<int> order_of(const ModelGraph& graph) {
  std::vector<int> order;
  for (const LayerId id : graph.chain_order()) order.push_back(number_of(id));
  return order;
}

std::vector<int> borders_of(const ModelGraph& graph) {
  std::vector<int> borders;
  for (const Bytes bytes : graph.border_bytes()) borders.push_back(static_cast<int>(bytes.value()));
  return borders;
}

/// The first of all orders, smallest first, that no arrow contradicts.
std::vector<int> smallest_order(int count, const std::vector<Arrow>& arrows) {
  std::vector<int> order;
  for (int i = 0; i < count; ++i) order.push_back(i);
  const auto fits = [&](const Arrow& arrow) {
    return std::ranges::find(order, arrow.from) < std::ranges::find(order, arrow.to);
  };
  while (!std::ranges::all_of(arrows, fits)) {
    if (!std::ranges::next_permutation(order).found) return {};
  }
  return order;
}

/// Bytes over the border before position k, by asking every producer for a later consumer.
int border_by_definition(const std::vector<int>& order, const std::vector<Arrow>& arrows,
                         std::ptrdiff_t k, int output) {
  const auto position = [&](int layer) { return std::ranges::find(order, layer) - order.begin(); };
  int total = 0;
  for (const int producer : order) {
    if (position(producer) >= k) continue;
    int size = output;
    bool crosses = false;
    for (const Arrow& arrow : arrows) {
      if (arrow.from != producer) continue;
      size = std::max(size, arrow.bytes);
      crosses |= position(arrow.to) >= k;
    }
    if (crosses) total += size;
  }
  return total;
}

/// Arrows that agree with a random order, so that there is no cycle.
std::vector<Arrow> random_arrows(int count, std::mt19937& random) {
  std::vector<int> order;
  for (int i = 0; i < count; ++i) order.insert(order.begin() + random() % (i + 1), i);
  std::vector<Arrow> arrows;
  for (std::size_t to = 1; to < order.size(); ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      if (random() % 3 == 0) {
        arrows.push_back({order[from], order[to], static_cast<int>(random() % 20)});
      }
    }
  }
  return arrows;
}

TEST_SUITE_BEGIN("core/model_graph");

TEST_CASE("ids are given and unique") {
  CHECK(problem(ModelGraph::build({{.id = "a"}, {.id = ""}}, {}))
            .starts_with("/layers/1/id: a layer without id\n"));
  CHECK(problem(ModelGraph::build({{.id = "a"}, {.id = "b"}, {.id = "a"}}, {})) ==
        "/layers/2/id: layer id 'a' is used twice (also /layers/0)\n"
        "  fix: give every layer an id of its own");
}

TEST_CASE("edges end at layers and are listed once") {
  CHECK(problem(graph_of(2, {{0, 1}, {1, 2}}))
            .starts_with("/edges/1: edge to layer 2, there are 2\n"));
  CHECK(problem(graph_of(2, {{-1, 1}})).starts_with("/edges/0: edge to layer -1, there are 2\n"));
  CHECK(problem(graph_of(2, {{1, 1}})).starts_with("/edges/0: edge of 'b' to itself\n"));
  CHECK(problem(graph_of(2, {{0, 1}, {0, 1}})) ==
        "/edges/1: edge 'a' -> 'b' is listed twice\n"
        "  fix: merge the two edges and add their bytes");
}

TEST_CASE("a cycle is named whole and without what leads to it") {
  CHECK(problem(graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}})) ==
        "/edges: cycle c -> d -> b -> c\n  fix: remove one edge of the cycle");
  CHECK(problem(graph_of(2, {{0, 1}, {1, 0}})).starts_with("/edges: cycle a -> b -> a\n"));
}

TEST_CASE("a graph without layers is a graph") {
  const auto graph = graph_of(0, {});
  REQUIRE(graph.has_value());
  CHECK(graph->chain_order().empty());
  CHECK(graph->border_bytes() == std::vector<Bytes>{Bytes(0)});
}

TEST_CASE("layers are found by id") {
  const auto graph = graph_of(3, {});
  CHECK(graph->find("b") == LayerId{1});
  CHECK_FALSE(graph->find("z").has_value());
  CHECK(graph->layer(LayerId{2}).id == "c");
}

TEST_CASE("the chain order is the given one where that is topological") {
  CHECK(order_of(*graph_of(4, {{0, 3}, {1, 3}})) == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("of the layers that could come next the smallest comes first") {
  // 3 must precede 0; 1 and 2 are free.
  CHECK(order_of(*graph_of(4, {{3, 0}})) == std::vector<int>{1, 2, 3, 0});
  CHECK(order_of(*graph_of(4, {{3, 1}, {2, 0}})) == std::vector<int>{2, 0, 3, 1});
}

TEST_CASE("a chain sends every output over one border") {
  CHECK(borders_of(*graph_of(3, {{0, 1}, {1, 2}}, 5)) == std::vector<int>{0, 5, 5, 0});
}

TEST_CASE("a skip is relayed over every border until its last consumer") {
  // a feeds b, c and d: its 5 bytes cross the borders before b, c and d once each.
  CHECK(borders_of(*graph_of(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}}, 5)) ==
        std::vector<int>{0, 5, 10, 10, 0});
}

TEST_CASE("an edge that carries more than the output counts with its bytes") {
  CHECK(borders_of(*graph_of(3, {{0, 1, 3}, {0, 2, 9}}, 5)) == std::vector<int>{0, 9, 9, 0});
}

TEST_CASE("a layer that nobody consumes sends nothing") {
  CHECK(borders_of(*graph_of(3, {{0, 2}}, 5)) == std::vector<int>{0, 5, 5, 0});
  CHECK(borders_of(*graph_of(2, {}, 5)) == std::vector<int>{0, 0, 0});
}

TEST_CASE("orders and borders agree with their definitions on random graphs") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const int count = 1 + static_cast<int>(random() % 7);
    const std::vector<Arrow> arrows = random_arrows(count, random);
    const auto graph = graph_of(count, arrows, 10);
    REQUIRE(graph.has_value());
    const std::vector<int> order = smallest_order(count, arrows);
    REQUIRE(order_of(*graph) == order);
    const std::vector<int> borders = borders_of(*graph);
    for (int k = 0; k <= count; ++k) {
      REQUIRE(borders[static_cast<std::size_t>(k)] == border_by_definition(order, arrows, k, 10));
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
