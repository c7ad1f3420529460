#include "planner/uniform_split.h"

#include <numeric>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

namespace headrace {
namespace {

TEST_SUITE_BEGIN("planner/uniform_split");

TEST_CASE("layers that divide evenly give the count per stage") {
  CHECK(uniform_split(80, 16, 5) == 1);
  CHECK(uniform_split(32, 4, 2) == 4);
}

TEST_CASE("O06 eighty layers over thirty-two stages are refused with the arithmetic") {
  const auto split = uniform_split(80, 16, 2);
  REQUIRE_FALSE(split.has_value());
  CHECK(to_string(split.error()) ==
        "uniform split: 80 layers do not divide evenly over 32 stages (16 devices x 2 virtual "
        "stages)\n"
        "  why: 80 / 32 = 2.5; rounding down to 2 builds 64 layers and loses 16\n"
        "  fix: use 1 or 5 virtual stages per device, which divide evenly; or 16 stages of 3 and "
        "16 of 2 layers");
}

TEST_CASE("O06 thirty layers on four devices get equal middle stages") {
  const auto split = uniform_split(30, 4, 1);
  REQUIRE_FALSE(split.has_value());
  CHECK(split.error().why == "30 / 4 = 7.5; rounding down to 7 builds 28 layers and loses 2");
  CHECK(split.error().fix == "use 7, 8, 8, 7 layers per stage");
}

TEST_CASE("fewer layers than stages have no even split") {
  const auto split = uniform_split(3, 4, 1);
  REQUIRE_FALSE(split.has_value());
  CHECK(split.error().fix == "use fewer devices");
}

TEST_CASE("counts below one are a usage error") {
  for (const auto& [layers, devices, virtual_stages] :
       {std::tuple{0, 4, 1}, std::tuple{8, 0, 1}, std::tuple{8, 4, -1}}) {
    const auto split = uniform_split(layers, devices, virtual_stages);
    REQUIRE_FALSE(split.has_value());
    CHECK(split.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("no alternative loses or adds a layer") {
  for (int layers = 1; layers <= 60; ++layers) {
    for (int devices = 1; devices <= 12; ++devices) {
      for (int virtual_stages = 1; virtual_stages <= 3; ++virtual_stages) {
        const auto ways = uniform_alternatives(layers, devices, virtual_stages);
        for (const int count : ways.virtual_stages) CHECK(layers % (devices * count) == 0);
        for (const auto& counts :
             {ways.layers_per_stage, ways.first_and_last.value_or(std::vector<int>())}) {
          if (!counts.empty()) CHECK(std::accumulate(counts.begin(), counts.end(), 0) == layers);
        }
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
