// Replicas, depth, schedule and micro-batch size chosen together, against planning every point.
#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "planner/grid_search.h"
#include "simulator/schedule_catalogue.h"
#include "tests/acceptance/wiring.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("acceptance/grid");

Result<PreparedPoint> prepare(const GridPoint& point) {
  auto made = make_schedule({.name = point.schedule,
                             .devices = point.pipeline,
                             .stages = point.pipeline * point.virtual_stages,
                             .microbatches = point.microbatches});
  if (!made) return Failure(made.error());
  const auto schedule = std::make_shared<const Schedule>(*std::move(made));
  PreparedPoint prepared{.request = {.stages = schedule->stages,
                                     .microbatches = point.microbatches,
                                     .schedule = schedule->name,
                                     .in_flight = peak_in_flight(*schedule),
                                     .passes = Passes::kWholeBackward}};
  if (point.virtual_stages > 1) {
    prepared.request.device_of_stage = schedule->device_of_stage;
    prepared.request.held_together = largest_holdings(*schedule);
  }
  prepared.scorer = [schedule](const Plan& plan) -> Result<Seconds> {
    const auto input = simulation_input(plan, *schedule);
    if (!input) return Failure(input.error());
    return simulated_iteration(*input);
  };
  prepared.peak_memory = [schedule](const Plan& plan) -> Result<Bytes> {
    const auto outcome = simulate(simulation_input(plan, *schedule).value());
    if (!outcome) return Failure(outcome.error());
    Bytes peak{0};
    for (const auto& device : outcome->report.per_device) {
      peak = std::max(peak, device.peak_memory);
    }
    return peak;
  };
  return prepared;
}

Profile random_profile(std::mt19937& random, int layers, int micro_batch_size) {
  Profile profile =
      testing::transformer_profile(0.5 * static_cast<double>(random() % 4), layers - 2,
                                   micro_batch_size, 1 + static_cast<double>(random() % 4));
  std::vector<Layer> list(profile.graph.layers().begin(), profile.graph.layers().end());
  for (Layer& layer : list) {
    layer.parameters = layer.gradients = Bytes(static_cast<std::int64_t>(random() % 100) * 10'000);
    layer.saved_activation = Bytes(static_cast<std::int64_t>(random() % 100) * 10'000);
  }
  const auto edges = profile.graph.edges();
  profile.graph = ModelGraph::build(std::move(list), {edges.begin(), edges.end()}).value();
  profile.micro_batch_size = micro_batch_size;
  profile.fingerprint = std::to_string(micro_batch_size);
  return profile;
}

GridTask task_of(const std::vector<Profile>& profiles, const Cluster& cluster, int global_batch) {
  return {.profiles = profiles,
          .cluster = cluster,
          .global_batch = global_batch,
          .schedules = {{"1f1b", {1}}, {"gpipe", {1}}, {"interleaved", {2}}},
          .prepare = prepare};
}

/// The fastest plan over every depth, replica count, schedule and profile that uses the grid's
/// devices, each planned on its own; infinite where none fits.
double by_force(const GridTask& task) {
  double best = 1e300;
  for (const Profile& profile : task.profiles) {
    const std::vector<Profile> one = {profile};
    for (const GridSchedule& schedule : task.schedules) {
      for (int data = 1; data <= static_cast<int>(task.cluster.devices.size()); ++data) {
        if (task.global_batch % (data * profile.micro_batch_size) != 0) continue;
        GridTask point{.profiles = one,
                       .cluster = task.cluster,
                       .global_batch = task.global_batch,
                       .schedules = {schedule},
                       .data = data,
                       .prepare = prepare};
        const auto plan = best_of_grid(point);
        if (plan) best = std::min(best, plan->alternatives.front().iteration.value());
      }
    }
  }
  return best;
}

TEST_CASE("the grid's plan is the fastest of all its points, and its bound holds") {
  std::mt19937 random(31);
  int planned = 0;
  int optimal = 0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<Profile> profiles = {random_profile(random, 8, 1),
                                           random_profile(random, 8, 2)};
    const LinkSpeed link{.latency = Seconds(1e-5), .bandwidth = BytesPerSecond(2e8)};
    const double limit = 3e6 + 1e6 * static_cast<double>(random() % 10);
    const Cluster cluster = uniform_cluster(4, Bytes(static_cast<std::int64_t>(limit)), link);
    const GridTask task = task_of(profiles, cluster, 16);
    const auto plan = best_of_grid(task);
    const double best = by_force(task);
    REQUIRE(plan.has_value() == (best < 1e300));
    if (!plan) {
      CHECK(plan.error().code == ErrorCode::kInfeasible);
      continue;
    }
    ++planned;
    const double ours = plan->alternatives.front().iteration.value();
    CHECK(plan->bound.value() <= best * (1 + 1e-12));
    CHECK(ours <= best * 1.05);
    optimal += ours <= best * (1 + 1e-12) ? 1 : 0;
    CHECK(plan->global_batch == 16);
    CHECK(plan->microbatches * plan->micro_batch_size * plan->parallel.data == 16);
    std::set<std::string> used;
    for (const PlanStage& stage : plan->stages) {
      CHECK(stage.devices.size() == static_cast<std::size_t>(plan->parallel.data));
      used.insert(stage.devices.begin(), stage.devices.end());
    }
    CHECK(used.size() == static_cast<std::size_t>(plan->parallel.data * plan->parallel.pipeline));
    CHECK(std::ranges::is_sorted(plan->alternatives, {}, &Alternative::iteration));
    CHECK(plan->alternatives.front().pareto);
    CHECK(plan->alternatives.front().parallel == plan->parallel);
    for (const Alternative& one : plan->alternatives) {
      CHECK(one.peak_memory <= *cluster.devices[0].memory);
    }
  }
  MESSAGE(optimal << " of " << planned << " grids found the fastest plan");
  CHECK(planned > 30);
  CHECK(optimal >= planned * 9 / 10);
}

TEST_CASE("O10: the fastest micro-batch size that fits, not the smallest bubble") {
  std::vector<Profile> profiles;
  for (const int size : {1, 2, 4, 8}) {
    std::vector<Layer> layers;
    for (int i = 0; i < 4; ++i) {
      layers.push_back(testing::decoder_of(i, 0.6 + 0.4 * size));
      layers.back().saved_activation = testing::gigabytes(size);
    }
    profiles.push_back(testing::chain_profile(std::move(layers)));
    profiles.back().micro_batch_size = size;
  }
  const auto plan_with = [&](double gigabytes) {
    const Cluster cluster = testing::devices_with(4, gigabytes);
    GridTask task = task_of(profiles, cluster, 32);
    task.schedules = {{"1f1b", {1}}};
    task.data = 1;
    return best_of_grid(task).value();
  };
  CHECK(plan_with(16).micro_batch_size == 4);
  CHECK(plan_with(16).alternatives.front().iteration.value() == doctest::Approx(72.6e-3));
  CHECK(plan_with(10).micro_batch_size == 2);
  CHECK(plan_with(10).alternatives.front().iteration.value() == doctest::Approx(79.8e-3));
}

TEST_CASE("replicas on unequal devices are not planned") {
  std::mt19937 random(32);
  const std::vector<Profile> profiles = {random_profile(random, 6, 1)};
  Cluster cluster = uniform_cluster(2, std::nullopt, {});
  cluster.devices[1].speed = 0.5;
  const auto plan = best_of_grid(task_of(profiles, cluster, 8));
  REQUIRE(plan.has_value());
  CHECK(plan->parallel.data == 1);
  CHECK(testing::says(*plan, "replicas would not be equally fast"));
}

TEST_CASE("replicas of a stage stand in one node where links between nodes are slow") {
  std::mt19937 random(33);
  Profile profile = random_profile(random, 8, 1);
  std::vector<Layer> layers(profile.graph.layers().begin(), profile.graph.layers().end());
  for (Layer& layer : layers) layer.gradients = layer.parameters = Bytes(50'000'000);
  const auto edges = profile.graph.edges();
  profile.graph = ModelGraph::build(std::move(layers), {edges.begin(), edges.end()}).value();
  Cluster cluster = uniform_cluster(4, std::nullopt, {});
  cluster.devices[0].node = cluster.devices[1].node = "a";
  cluster.devices[2].node = cluster.devices[3].node = "b";
  cluster.intra_node.bandwidth = BytesPerSecond(1e11);
  cluster.inter_node.bandwidth = BytesPerSecond(1e9);
  const std::vector<Profile> profiles = {profile};
  const GridTask task{.profiles = profiles,
                      .cluster = cluster,
                      .global_batch = 16,
                      .schedules = {{"1f1b", {1}}},
                      .data = 2,
                      .prepare = prepare};
  const auto plan = best_of_grid(task);
  REQUIRE(plan.has_value());
  CHECK(plan->stages[0].devices == std::vector<std::string>{"device0", "device1"});
  CHECK(plan->stages[1].devices == std::vector<std::string>{"device2", "device3"});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
