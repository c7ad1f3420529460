#include "planner/default_splits.h"

#include <doctest/doctest.h>

#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

using testing::transformer_profile;

TEST_SUITE_BEGIN("planner/default_splits");

TEST_CASE("equal counts put the remainder on the first stages") {
  CHECK(equal_counts(10, 4) == std::vector<int>{3, 3, 2, 2});
  CHECK(equal_counts(8, 4) == std::vector<int>{2, 2, 2, 2});
}

TEST_CASE("O13 torchtitan counts the embedding and the head as one layer each") {
  CHECK(torchtitan_counts(6, 4) == std::vector<int>{1, 2, 2, 1});
  CHECK(torchtitan_counts(7, 4) == std::vector<int>{2, 2, 2, 1});
  CHECK(torchtitan_counts(16, 4) == std::vector<int>{4, 5, 4, 3});
}

TEST_CASE("O04 the smallest spread is not the fastest slowest stage") {
  const std::vector<std::int64_t> weights{2, 8, 4, 4, 4};
  CHECK(smallest_spread(weights, 4) == Borders{0, 2, 3, 4, 5});
}

TEST_CASE("O02 equal decoder counts leave embedding and head to the outer stages") {
  const Profile profile = transformer_profile(0.2, 8, 1, 2.5);
  const auto splits = default_splits(profile.graph, 4);
  REQUIRE_FALSE(splits.empty());
  CHECK(splits.front().name == "equal-layers");
  CHECK(splits.front().borders == Borders{0, 3, 5, 7, 10});
}

TEST_CASE("layers are counted where there are no decoders") {
  std::vector<Layer> layers;
  for (int i = 0; i < 7; ++i)
    layers.push_back(testing::layer_of("c" + std::to_string(i), "Conv", 1));
  const auto splits = default_splits(testing::chain_profile(layers).graph, 3);
  REQUIRE_FALSE(splits.empty());
  CHECK(splits.front().borders == Borders{0, 3, 5, 7});
}

TEST_CASE("a chain with one layer per stage has no default worth naming") {
  CHECK(default_splits(transformer_profile(1, 2, 1, 1).graph, 4).empty());
  CHECK(default_splits(transformer_profile(1, 2, 1, 1).graph, 1).empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
