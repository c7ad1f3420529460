// Cases about memory deciding the plan: O10 and O11.
#include <algorithm>

#include <doctest/doctest.h>

#include "core/text.h"
#include "tests/acceptance/wiring.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

using doctest::Approx;
using testing::devices_with;
using testing::gigabytes;
using testing::plan_for;
using testing::sizes_of;

TEST_SUITE_BEGIN("acceptance/memory");

/// Four equal layers at micro-batch size b: F = 0.6 + 0.4 b, 1 GB of activations per sample.
Profile profile_at(int micro_batch) {
  std::vector<Layer> layers;
  for (int i = 0; i < 4; ++i) {
    layers.push_back(testing::decoder_of(i, 0.6 + 0.4 * micro_batch));
    layers.back().saved_activation = gigabytes(micro_batch);
  }
  Profile profile = testing::chain_profile(std::move(layers));
  profile.micro_batch_size = micro_batch;
  return profile;
}

Result<Plan> plan_at(int micro_batch, double memory) {
  return plan_for(profile_at(micro_batch), devices_with(4, memory),
                  {.stages = 4, .microbatches = 32 / micro_batch});
}

/// The fastest of the micro-batch sizes whose plan fits.
int recommended(double memory) {
  int best = 0;
  Seconds fastest(1e9);
  for (const int micro_batch : {1, 2, 4, 8}) {
    const auto plan = plan_at(micro_batch, memory);
    if (!plan) continue;
    const Seconds iteration = testing::simulated(*plan, "1f1b").iteration;
    if (iteration < fastest) best = micro_batch;
    fastest = std::min(fastest, iteration);
  }
  return best;
}

TEST_CASE("O10 every micro-batch size has its time and bubble and memory") {
  struct Row {
    int size;
    double makespan;
    double bubble;
    double peak;
  };
  for (const Row& row : {Row{1, 105.0, 0.0857, 4}, Row{2, 79.8, 0.1579, 8},
                         Row{4, 72.6, 0.2727, 16}, Row{8, 79.8, 0.4286, 32}}) {
    CAPTURE(row.size);
    const auto plan = plan_at(row.size, 40);
    REQUIRE(plan.has_value());
    const Simulation report = testing::simulated(*plan, "1f1b");
    CHECK(report.makespan.value() == Approx(row.makespan / 1e3));
    CHECK(report.bubble_ratio == Approx(row.bubble).epsilon(5e-4));
    CHECK(plan->stages[0].memory.activations == gigabytes(row.peak));
  }
}

TEST_CASE("O10 the fastest size that fits is recommended and not the smallest bubble") {
  CHECK(recommended(16) == 4);
  CHECK(recommended(40) == 4);
  CHECK(recommended(10) == 2);
}

/// E | t x 8 | H with state and activations in GB; nothing is sent.
Profile profile_of_o11() {
  std::vector<Layer> layers{testing::layer_of("E", "embedding", 0.1)};
  layers.back().parameters = gigabytes(3);
  layers.back().saved_activation = gigabytes(0.2);
  for (int i = 0; i < 8; ++i) {
    layers.push_back(testing::decoder_of(i, 1));
    layers.back().parameters = gigabytes(2);
    layers.back().saved_activation = gigabytes(1);
  }
  layers.push_back(testing::layer_of("H", "head", 1.2));
  layers.back().parameters = gigabytes(3);
  layers.back().saved_activation = gigabytes(1);
  return testing::chain_profile(std::move(layers));
}

Result<Plan> plan_of_o11(double memory) {
  return plan_for(profile_of_o11(), devices_with(4, memory),
                  {.stages = 4, .microbatches = 8, .objective = "bottleneck"});
}

std::vector<Bytes> memory_of(const Plan& plan) {
  std::vector<Bytes> memory;
  for (const PlanStage& stage : plan.stages) memory.push_back(stage.memory.total());
  return memory;
}

TEST_CASE("O11 enough memory allows the fastest cut") {
  for (const double memory : {15.0, 16.0, 80.0}) {
    const auto plan = plan_of_o11(memory);
    REQUIRE(plan.has_value());
    CHECK(sizes_of(*plan) == std::vector<int>{2, 3, 3, 2});
    CHECK(plan->bottleneck.value() == Approx(9e-3));
    CHECK(memory_of(*plan) ==
          std::vector{gigabytes(9.8), gigabytes(15), gigabytes(12), gigabytes(7)});
  }
}

TEST_CASE("O11 less memory moves a layer to a later stage") {
  for (const double memory : {12.0, 13.0, 14.999}) {
    const auto plan = plan_of_o11(memory);
    REQUIRE(plan.has_value());
    CHECK(sizes_of(*plan) == std::vector<int>{2, 2, 3, 3});
    CHECK(plan->bottleneck.value() == Approx(9.6e-3));
    CHECK(memory_of(*plan) ==
          std::vector{gigabytes(9.8), gigabytes(10), gigabytes(12), gigabytes(10)});
  }
}

TEST_CASE("O11 too little memory is infeasible by a stated amount on a stated stage") {
  const auto plan = plan_of_o11(11);
  REQUIRE_FALSE(plan.has_value());
  CHECK(exit_status(plan.error().code) == 4);
  CHECK(to_string(plan.error()) ==
        "cluster: /devices/2/memory_bytes: no cut of 10 layers into 4 stages fits in memory: short "
        "by 954 MiB (1000000000 bytes) on stage 2 at best\n"
        "  why: stage 2 then holds 't3' to 't5': state 5.59 GiB + 2 micro-batches in flight 5.59 "
        "GiB + buffers 0 B + workspace 0 B = 11.2 GiB, of 10.2 GiB free\n"
        "  fix: recompute activations, use a smaller micro-batch, use more stages, or devices with "
        "954 MiB (1000000000 bytes) more memory");
}

TEST_CASE("O11 the equal split is flagged as too large for the first stage") {
  const auto plan = plan_of_o11(12);
  REQUIRE(plan.has_value());
  const auto equal = std::ranges::find(plan->baselines, "equal-layers", &Baseline::name);
  REQUIRE(equal != plan->baselines.end());
  CHECK(equal->layers_per_stage == std::vector<int>{3, 2, 2, 3});
  CHECK_FALSE(equal->iteration.has_value());
  CHECK(equal->note ==
        "stage 0 needs " + to_text(gigabytes(15.8)) + " of " + to_text(gigabytes(12)));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
