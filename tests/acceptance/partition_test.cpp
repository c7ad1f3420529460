// Cases about where a model is cut: O02, O04, O05, O06, O13 and O15.
#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "planner/plan_builder.h"
#include "planner/uniform_split.h"
#include "tests/acceptance/wiring.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

using doctest::Approx;
using testing::devices_without_limit;
using testing::plan_for;
using testing::says;
using testing::simulated;
using testing::sizes_of;

TEST_SUITE_BEGIN("acceptance/partition");

/// Layers of these milliseconds, all of it forward, with as many bytes of parameters.
Profile weighted_profile(std::initializer_list<int> weights) {
  std::vector<Layer> layers;
  for (const int weight : weights) {
    layers.push_back(testing::layer_of("w" + std::to_string(layers.size()), "Linear", weight));
    layers.back().backward.mean = Seconds{0};
    layers.back().parameters = Bytes{weight};
  }
  return testing::chain_profile(std::move(layers));
}

const Baseline& baseline_of(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.baselines, name, &Baseline::name);
  REQUIRE(found != plan.baselines.end());
  return *found;
}

TEST_CASE("O02 a heavy head gets the last stage and the split is worth a quarter of the time") {
  const Profile profile = testing::transformer_profile(0.2, 8, 1, 2.5);
  const auto plan = plan_for(profile, devices_without_limit(4),
                             {.stages = 4, .microbatches = 8, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  CHECK(sizes_of(*plan) == std::vector<int>{3, 3, 3, 1});
  CHECK(plan->bottleneck.value() == Approx(9e-3));  // F = 3, B = 6.
  CHECK(plan->exact);
  CHECK(simulated(*plan, "1f1b").makespan.value() == Approx(93.6e-3));
  CHECK(simulated(*plan, "gpipe").makespan.value() == Approx(95.1e-3));
  CHECK(says(*plan, "'H' is the heaviest layer"));
}

TEST_CASE("O02 equal decoder counts are shown for contrast") {
  const Profile profile = testing::transformer_profile(0.2, 8, 1, 2.5);
  const auto plan = plan_for(profile, devices_without_limit(4), {.stages = 4, .microbatches = 8});
  REQUIRE(plan.has_value());
  const Baseline& equal = baseline_of(*plan, "equal-layers");
  CHECK(equal.layers_per_stage == std::vector<int>{3, 2, 2, 3});
  REQUIRE(equal.iteration.has_value());
  CHECK(equal.iteration->value() == Approx(126.6e-3));
  CHECK(simulated(*plan, "1f1b").makespan.value() <= 93.6e-3 * (1 + 1e-9));
}

TEST_CASE("O04 the slowest stage is minimised and not the spread") {
  const Profile profile = weighted_profile({2, 8, 4, 4, 4});
  const auto plan = plan_for(profile, devices_without_limit(4),
                             {.stages = 4, .microbatches = 4, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  CHECK(plan->bottleneck.value() == Approx(8e-3));
  CHECK(sizes_of(*plan) == std::vector<int>{1, 1, 1, 2});
  CHECK(baseline_of(*plan, "equal-parameters").bottleneck.value() == Approx(10e-3));
}

TEST_CASE("O05 five equal layers on four stages leave none empty") {
  const auto plan = plan_for(weighted_profile({1, 1, 1, 1, 1}), devices_without_limit(4),
                             {.stages = 4, .microbatches = 4, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  CHECK(plan->bottleneck.value() == Approx(2e-3));
  auto sizes = sizes_of(*plan);
  std::ranges::sort(sizes);
  CHECK(sizes == std::vector<int>{1, 1, 1, 2});
}

TEST_CASE("O05 forty-two equal layers on sixteen stages hold two or three each") {
  std::vector<Layer> layers;
  for (int i = 0; i < 42; ++i) layers.push_back(testing::decoder_of(i, 1));
  const auto plan = plan_for(testing::chain_profile(layers), devices_without_limit(16),
                             {.stages = 16, .microbatches = 16, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  CHECK(plan->bottleneck.value() == Approx(9e-3));  // Three layers of F + B = 3.
  const auto sizes = sizes_of(*plan);
  CHECK(std::ranges::min(sizes) >= 1);
  CHECK(std::ranges::max(sizes) == 3);
  CHECK(std::accumulate(sizes.begin(), sizes.end(), 0) == 42);
}

TEST_CASE("O05 more stages than layers are infeasible with a way out") {
  const auto plan = plan_for(weighted_profile({1, 1, 1}), devices_without_limit(4),
                             {.stages = 4, .microbatches = 4});
  REQUIRE_FALSE(plan.has_value());
  CHECK(exit_status(plan.error().code) == 4);
  CHECK(plan.error().what == "4 stages but only 3 layers");
  CHECK(plan.error().fix.find("--stages 3") != std::string::npos);
}

TEST_CASE("O06 a floor division that loses layers is refused with the arithmetic") {
  const auto interleaved = uniform_split(80, 16, 2);
  REQUIRE_FALSE(interleaved.has_value());
  CHECK(exit_status(interleaved.error().code) == 4);
  CHECK(interleaved.error().why ==
        "80 / 32 = 2.5; rounding down to 2 builds 64 layers and loses 16");
  CHECK(interleaved.error().fix.find("5 virtual stages") != std::string::npos);
  const auto plain = uniform_split(30, 4, 1);
  REQUIRE_FALSE(plain.has_value());
  CHECK(plain.error().fix == "use 7, 8, 8, 7 layers per stage");
}

TEST_CASE("O13 the framework's split stays where nothing is gained") {
  std::vector<Layer> layers{testing::layer_of("tok", "embedding", 0.1)};
  for (int i = 0; i < 16; ++i) layers.push_back(testing::decoder_of(i, 1));
  layers.push_back(testing::layer_of("norm", "norm", 0));
  layers.push_back(testing::layer_of("lm_head", "head", 2));
  for (Layer& layer : layers) layer.backward.mean = Seconds{0};
  const auto plan = plan_for(testing::chain_profile(layers), devices_without_limit(4),
                             {.stages = 4, .microbatches = 8, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  CHECK(plan->bottleneck.value() == Approx(5e-3));
  const Baseline& torchtitan = baseline_of(*plan, "torchtitan");
  CHECK(torchtitan.layers_per_stage == std::vector<int>{5, 5, 4, 5});
  CHECK(torchtitan.bottleneck.value() == Approx(5e-3));
  CHECK(sizes_of(*plan) == torchtitan.layers_per_stage);  // Stages of 4.1, 5, 4 and 5.
  CHECK(says(*plan, "is as fast as this plan; it is already optimal for the bottleneck"));
}

TEST_CASE("O13 a heavier head makes the framework's split worth changing") {
  std::vector<Layer> layers{testing::layer_of("tok", "embedding", 0.1)};
  for (int i = 0; i < 16; ++i) layers.push_back(testing::decoder_of(i, 1));
  layers.push_back(testing::layer_of("norm", "norm", 0));
  layers.push_back(testing::layer_of("lm_head", "head", 4));
  for (Layer& layer : layers) layer.backward.mean = Seconds{0};
  const auto plan = plan_for(testing::chain_profile(layers), devices_without_limit(4),
                             {.stages = 4, .microbatches = 8, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  CHECK(baseline_of(*plan, "torchtitan").bottleneck.value() == Approx(7e-3));
  CHECK(plan->bottleneck.value() == Approx(5.1e-3));
  CHECK(sizes_of(*plan) == std::vector<int>{6, 5, 5, 3});
}

TEST_CASE("O15 the most loaded stage counts its own layers and its tied copy") {
  std::vector<Layer> layers{testing::layer_of("embedding", "embedding", 1)};
  layers.front().parameters = Bytes{464};
  layers.front().tie_group = "words";
  for (int i = 0; i < 8; ++i) layers.push_back(testing::decoder_of(i, 1));
  for (int i = 1; i <= 8; ++i) layers[static_cast<std::size_t>(i)].parameters = Bytes{3160};
  layers.push_back(testing::layer_of("norm", "norm", 0));
  layers.back().parameters = Bytes{8};
  layers.push_back(layers.front());
  layers.back().id = "head";
  const Profile profile = testing::chain_profile(layers);
  const Cluster cluster = devices_without_limit(4);
  const PlanRequest request = testing::request_of({.stages = 4, .microbatches = 8});
  const Plan plan = PlanBuilder(profile, cluster, request).plan_of({0, 2, 4, 6, 11});
  const auto heaviest = std::ranges::max_element(
      plan.stages, {}, [](const PlanStage& stage) { return stage.memory.parameters; });
  CHECK(heaviest - plan.stages.begin() == 3);
  CHECK(heaviest->memory.parameters == Bytes{9952});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
