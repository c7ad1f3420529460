#include "planner/placed_costs.h"

#include <algorithm>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "planner/plan_builder.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("planner/placed_costs");

/// Layers of whole milliseconds with random bytes; the first and the last are tied.
Profile random_profile(std::mt19937& random, int layers) {
  const auto bytes = [&] { return Bytes(static_cast<std::int64_t>(random() % 1000)); };
  std::vector<Layer> list;
  for (int i = 0; i < layers; ++i) {
    Layer layer = testing::decoder_of(i, 1 + static_cast<double>(random() % 9));
    layer.parameters = bytes();
    layer.gradients = bytes();
    layer.optimizer = bytes();
    layer.saved_activation = bytes();
    layer.output = bytes();
    layer.workspace = bytes();
    list.push_back(layer);
  }
  list.front().tie_group = list.back().tie_group = "embedding";
  return testing::chain_profile(std::move(list));
}

/// Interleaved by hand: stage s on device s mod P, some combinations held at once.
PlanRequest request_of(std::mt19937& random, int devices, int per_device) {
  PlanRequest request{.stages = devices * per_device, .microbatches = 4, .memory_margin = 0.1};
  request.in_flight.assign(static_cast<std::size_t>(request.stages), 1);
  request.passes = Passes::kWholeBackward;
  for (int s = 0; s < request.stages; ++s) {
    request.device_of_stage.push_back(DeviceId{s % devices});
  }
  for (int d = 0; d < devices; ++d) {
    auto& held = request.held_together.emplace_back();
    for (int k = 0; k < 3; ++k) {
      auto& counts = held.emplace_back();
      for (int v = 0; v < per_device; ++v) counts.push_back(static_cast<int>(random() % 5));
    }
  }
  return request;
}

Borders random_cut(std::mt19937& random, int layers, int stages) {
  std::vector<int> inner;
  for (int i = 1; i < layers; ++i) inner.push_back(i);
  std::ranges::shuffle(inner, random);
  inner.resize(static_cast<std::size_t>(stages) - 1);
  std::ranges::sort(inner);
  Borders borders = {0};
  borders.insert(borders.end(), inner.begin(), inner.end());
  borders.push_back(layers);
  return borders;
}

TEST_CASE("the sums are those of the plan, ties and margin included") {
  std::mt19937 random(41);
  for (int round = 0; round < 500; ++round) {
    const int devices = 1 + static_cast<int>(random() % 3);
    const int per_device = 2 + static_cast<int>(random() % 2);
    const int layers = devices * per_device + static_cast<int>(random() % 6);
    const Profile profile = random_profile(random, layers);
    const Cluster cluster =
        uniform_cluster(devices, Bytes(static_cast<std::int64_t>(random() % 40000)), {});
    const PlanRequest request = request_of(random, devices, per_device);
    const auto problem = chain_problem(profile, cluster, request);
    REQUIRE(problem.has_value());
    const PlacedCosts costs(*problem, cluster, request);
    const PlanBuilder builder(profile, cluster, request);
    const Borders borders = random_cut(random, layers, request.stages);
    const Plan plan = builder.plan_of(borders);
    std::map<std::size_t, Bytes> missing;
    Bytes sent{0};
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const Bytes over = builder.device_memory(plan, s) - *builder.device_capacity(s);
      missing[s % static_cast<std::size_t>(devices)] = std::max(Bytes{0}, over);
      sent += plan.stages[s].output;
    }
    Bytes all{0};
    for (const auto& [device, bytes] : missing) all += bytes;
    CHECK(costs.missing(borders) == all);
    CHECK((all > Bytes{0}) == builder.overfull_stage(plan).has_value());
    CHECK(costs.sent(borders) == sent);
    CHECK(static_cast<double>(costs.busiest(borders)) * 1e-9 ==
          doctest::Approx(plan.bottleneck.value()));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
