#include "planner/memory.h"

#include <random>

#include <doctest/doctest.h>

#include "planner/chain_costs.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

using testing::chain_profile;
using testing::decoder_of;

TEST_SUITE_BEGIN("planner/memory");

/// 8 decoders of 3160 parameters between an embedding of 464 and a norm of 8, one byte each; the
/// head on the last stage is the embedding again.
Profile tied_profile() {
  std::vector<Layer> layers{testing::layer_of("embedding", "embedding", 1)};
  layers.front().parameters = Bytes{464};
  layers.front().gradients = Bytes{1856};
  layers.front().tie_group = "words";
  for (int i = 0; i < 8; ++i) {
    layers.push_back(decoder_of(i, 1));
    layers.back().parameters = Bytes{3160};
  }
  layers.push_back(testing::layer_of("norm", "norm", 0));
  layers.back().parameters = Bytes{8};
  layers.push_back(layers.front());
  layers.back().id = "head";
  return chain_profile(std::move(layers));
}

TEST_CASE("O15 the heaviest stage counts its tied copy and its own layers") {
  const Profile profile = tied_profile();
  const auto border = profile.graph.border_bytes();
  // embedding + 1 | 2 | 2 | 3 + norm + head
  CHECK(stage_memory(profile.graph, border, {.first = 0, .last = 2}).parameters == Bytes{3624});
  CHECK(stage_memory(profile.graph, border, {.first = 2, .last = 4}).parameters == Bytes{6320});
  CHECK(stage_memory(profile.graph, border, {.first = 6, .last = 11}).parameters == Bytes{9952});
}

TEST_CASE("one stage keeps tied parameters once") {
  const Profile profile = tied_profile();
  const auto border = profile.graph.border_bytes();
  const Bytes all = stage_memory(profile.graph, border, {.first = 0, .last = 11}).parameters;
  CHECK(all == Bytes{8 * 3160 + 464 + 8});
}

TEST_CASE("ties between stages are named with the gradient they exchange") {
  const Profile profile = tied_profile();
  const auto ties = split_ties(profile.graph, std::vector<int>{0, 2, 4, 6, 11});
  REQUIRE(ties.size() == 1);
  CHECK(ties[0].first_layer == "embedding");
  CHECK(ties[0].second_layer == "head");
  CHECK(ties[0].second_stage == 3);
  CHECK(ties[0].gradient == Bytes{1856});
  CHECK(split_ties(profile.graph, std::vector<int>{0, 11}).empty());
}

TEST_CASE("each item counts what it is for") {
  std::vector<Layer> layers{decoder_of(0, 1), decoder_of(1, 1), decoder_of(2, 1)};
  for (Layer& layer : layers) {
    layer.parameters = Bytes{100};
    layer.gradients = Bytes{50};
    layer.optimizer = Bytes{200};
    layer.saved_activation = Bytes{10};
    layer.output = Bytes{3};
  }
  layers[1].workspace = Bytes{7};
  const Profile profile = chain_profile(layers);
  const MemoryItems items = stage_memory(profile.graph, profile.graph.border_bytes(),
                                         {.first = 1, .last = 3, .in_flight = 4});
  CHECK(items == MemoryItems{.parameters = Bytes{200},
                             .gradients = Bytes{100},
                             .optimizer = Bytes{400},
                             .activations = Bytes{80},
                             .communication = Bytes{3},
                             .workspace = Bytes{7}});
}

TEST_CASE("the margin is rounded up") {
  CHECK(memory_margin(Bytes{1001}, 0.1) == Bytes{101});
  CHECK(memory_margin(Bytes{1001}, 0) == Bytes{0});
}

TEST_CASE("the search and the plan agree on the memory of every stage") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 300; ++i) {
    std::vector<Layer> layers;
    for (int k = 0; k < 8; ++k) {
      Layer layer = decoder_of(k, 1);
      for (Bytes* item : {&layer.parameters, &layer.gradients, &layer.optimizer, &layer.output,
                          &layer.saved_activation, &layer.workspace}) {
        *item = Bytes{static_cast<std::int64_t>(random() % 100)};
      }
      if (random() % 3 == 0) layer.tie_group = "group" + std::to_string(random() % 2);
      layers.push_back(layer);
    }
    const Profile profile = chain_profile(layers);
    const Cluster cluster = uniform_cluster(1, Bytes{1000}, {});
    const auto problem = chain_problem(profile, cluster, {.in_flight = {3}});
    REQUIRE(problem.has_value());
    const ChainCosts costs(*problem);
    const auto border = profile.graph.border_bytes();
    for (int first = 0; first < 8; ++first) {
      for (int last = first + 1; last <= 8; ++last) {
        const StageExtent extent{.first = first, .last = last, .in_flight = 3};
        REQUIRE(costs.memory(0, first, last) ==
                stage_memory(profile.graph, border, extent).total().value());
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
