// Plans for devices with several stages each, against all cuts and against the simulator.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "planner/plan_builder.h"
#include "tests/acceptance/wiring.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

using testing::plan_for;
using testing::request_of;
using testing::schedule_of;
using testing::Wish;

TEST_SUITE_BEGIN("acceptance/placed_plans");

/// Layers of 1 to 9 ms with different activations; sometimes one is heavy.
Profile random_profile(std::mt19937& random, int layers) {
  std::vector<Layer> list;
  std::vector<LayerEdge> edges;
  for (int i = 0; i < layers; ++i) {
    const double work = (1 + static_cast<double>(random() % 9)) * 1e-3;
    Layer layer{.id = "l" + std::to_string(i)};
    layer.forward.mean = Seconds(work);
    layer.backward.mean = Seconds(2 * work);
    layer.input_grad = Duration{.mean = Seconds(work)};
    layer.weight_grad = Duration{.mean = Seconds(work)};
    layer.parameters = layer.gradients = Bytes(static_cast<std::int64_t>(random() % 1000) * 1000);
    layer.saved_activation = Bytes(static_cast<std::int64_t>(random() % 100) * 1000);
    layer.workspace = Bytes(static_cast<std::int64_t>(random() % 10) * 1000);
    list.push_back(layer);
    if (i > 0) edges.push_back({.from = LayerId{i - 1}, .to = LayerId{i}});
  }
  Profile profile;
  profile.graph = ModelGraph::build(std::move(list), std::move(edges)).value();
  return profile;
}

/// All cuts of n layers into S stages.
std::vector<Borders> all_cuts(int layers, int stages) {
  std::vector<Borders> cuts = {{0}};
  for (int s = 1; s < stages; ++s) {
    std::vector<Borders> longer;
    for (const Borders& cut : cuts) {
      for (int next = cut.back() + 1; next <= layers - (stages - s); ++next) {
        longer.push_back(cut);
        longer.back().push_back(next);
      }
    }
    cuts = std::move(longer);
  }
  for (Borders& cut : cuts) cut.push_back(layers);
  return cuts;
}

struct Best {
  double iteration = 1e300;
  double bottleneck = 1e300;
};

/// By trying all cuts that fit.
Best by_force(const Profile& profile, const Cluster& cluster, const Wish& wish) {
  const PlanRequest request = request_of(wish);
  const PlanBuilder builder(profile, cluster, request);
  const PlanScorer scorer = testing::simulated_scorer(wish);
  Best best;
  for (const Borders& cut :
       all_cuts(static_cast<int>(profile.graph.layers().size()), wish.stages)) {
    const Plan plan = builder.plan_of(cut);
    if (builder.overfull_stage(plan)) continue;
    best.iteration = std::min(best.iteration, scorer(plan).value().value());
    best.bottleneck = std::min(best.bottleneck, plan.bottleneck.value());
  }
  return best;
}

const std::vector<Wish>& wishes() {
  static const std::vector<Wish> all = {
      {.stages = 4, .microbatches = 4, .schedule = "interleaved", .devices = 2},
      {.stages = 6, .microbatches = 6, .schedule = "looped-bfs", .devices = 3},
      {.stages = 6, .microbatches = 4, .schedule = "interleaved-zb", .devices = 2},
      {.stages = 4, .microbatches = 6, .schedule = "zbv", .devices = 2},
      {.stages = 4, .microbatches = 8, .schedule = "v-half", .devices = 2}};
  return all;
}

TEST_CASE(
    "few cuts are all tried; of many none is below the bound and few are better than the plan") {
  std::mt19937 random(21);
  int optimal = 0;
  int rounds = 0;
  double worst = 0;
  constexpr int kFewScores = 50;  // Fewer than the 56 cuts: not all of them may be tried.
  for (int round = 0; round < 40; ++round) {
    for (const Wish& wish : wishes()) {
      const Profile profile = random_profile(random, 9);
      const Cluster cluster = testing::devices_without_limit(wish.devices);
      const Best best = by_force(profile, cluster, wish);
      const auto proven = plan_for(profile, cluster, wish);
      REQUIRE(proven.has_value());
      CHECK(proven->exact);
      CHECK(proven->bound.value() == doctest::Approx(best.iteration).epsilon(1e-12));
      PlanRequest request = request_of(wish);
      request.scored_plans = kFewScores;
      const auto plan = make_plan(profile, cluster, request, testing::simulated_scorer(wish));
      REQUIRE(plan.has_value());
      const double ours = testing::simulated_scorer(wish)(*plan).value().value();
      CAPTURE(wish.schedule);
      REQUIRE(plan->bound.value() <= best.iteration * (1 + 1e-12));
      if (plan->exact) REQUIRE(ours <= best.iteration * (1 + 1e-12));
      CHECK(plan->gap == doctest::Approx(ours / plan->bound.value() - 1));
      worst = std::max(worst, ours / best.iteration - 1);
      optimal += ours <= best.iteration * (1 + 1e-12) ? 1 : 0;
      ++rounds;
    }
  }
  MESSAGE(optimal << " of " << rounds << " plans are optimal, the worst is " << worst * 100
                  << " % above");
  CHECK(optimal >= rounds * 9 / 10);
  CHECK(worst < 0.1);
}

TEST_CASE("by bottleneck two stages per device are cut exactly") {
  std::mt19937 random(22);
  for (int round = 0; round < 60; ++round) {
    for (Wish wish : wishes()) {
      if (wish.stages != 2 * wish.devices) continue;
      wish.objective = "bottleneck";
      const Profile profile = random_profile(random, 9);
      const Cluster cluster = testing::devices_without_limit(wish.devices);
      const auto plan = plan_for(profile, cluster, wish);
      REQUIRE(plan.has_value());
      CHECK(plan->exact);
      CHECK(plan->bottleneck.value() ==
            doctest::Approx(by_force(profile, cluster, wish).bottleneck).epsilon(1e-9));
    }
  }
}

TEST_CASE("memory of a device is what the simulation holds at its peak") {
  std::mt19937 random(23);
  for (int round = 0; round < 60; ++round) {
    for (const Wish& wish : wishes()) {
      const Profile profile = random_profile(random, 9);
      const Cluster cluster = testing::devices_without_limit(wish.devices);
      const auto plan = plan_for(profile, cluster, wish);
      REQUIRE(plan.has_value());
      const PlanRequest request = request_of(wish);
      const PlanBuilder builder(profile, cluster, request);
      const auto outcome = simulate(simulation_input(*plan, schedule_of(wish)).value()).value();
      for (std::size_t s = 0; s < plan->stages.size(); ++s) {
        const std::size_t device = index_of(request.device_of_stage[s]);
        CHECK(builder.device_memory(*plan, s) == outcome.report.per_device[device].peak_memory);
      }
    }
  }
}

TEST_CASE("plans fit, and where a cut fits one is found") {
  std::mt19937 random(24);
  int found = 0;
  int there = 0;
  for (int round = 0; round < 40; ++round) {
    for (const Wish& wish : wishes()) {
      const Profile profile = random_profile(random, 9);
      const Cluster cluster =
          testing::devices_with(wish.devices, 3e-3 + 1e-4 * static_cast<double>(random() % 40));
      const auto plan = plan_for(profile, cluster, wish);
      const Best best = by_force(profile, cluster, wish);
      there += best.iteration < 1e300 ? 1 : 0;
      if (!plan) {
        CHECK(plan.error().code == ErrorCode::kInfeasible);
        continue;
      }
      ++found;
      REQUIRE(plan->bound.value() <= best.iteration * (1 + 1e-12));
      const auto outcome = simulate(simulation_input(*plan, schedule_of(wish)).value()).value();
      for (const DeviceReport& device : outcome.report.per_device) {
        REQUIRE(device.capacity.has_value());
        CHECK(device.peak_memory <= *device.capacity);
      }
    }
  }
  MESSAGE(found << " plans found of " << there);
  CHECK(there > 50);
  CHECK(found <= there);
  CHECK(found == there);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
