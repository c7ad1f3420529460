#include "planner/planner.h"

#include <algorithm>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

using doctest::Approx;
using testing::chain_profile;
using testing::decoder_of;
using testing::transformer_profile;

TEST_SUITE_BEGIN("planner/planner");

Cluster cluster_of(int devices, const LinkSpeed& link = {}) {
  return uniform_cluster(devices, std::nullopt, link);
}

PlanRequest request_of(int stages, std::string objective = "iteration-time") {
  PlanRequest request{.stages = stages, .microbatches = 8, .objective = std::move(objective)};
  for (int s = 0; s < stages; ++s) request.in_flight.push_back(stages - s);
  request.passes = Passes::kWholeBackward;
  return request;
}

/// A stand-in for the simulator: the bound of whole backward itself, hops left out.
Result<Seconds> bound_scorer(const Plan& plan) {
  Seconds before{0};
  Seconds longest{0};
  for (const PlanStage& stage : plan.stages) {
    const Seconds work = stage.forward.mean + stage.backward.mean;
    longest = std::max(longest, before + plan.microbatches * work);
    before += work;
  }
  return longest + plan.optimizer_step.mean;
}

std::vector<int> sizes_of(const Plan& plan) {
  std::vector<int> sizes;
  for (const PlanStage& stage : plan.stages) sizes.push_back(static_cast<int>(stage.layers.size()));
  return sizes;
}

bool says(const Plan& plan, const std::string& words) {
  return std::ranges::any_of(plan.notes, [&words](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

std::string error_of(const Profile& profile, const Cluster& cluster, const PlanRequest& request) {
  const auto plan = make_plan(profile, cluster, request, bound_scorer);
  return plan ? "no error" : to_string(plan.error());
}

TEST_CASE("the plan carries what it was made from") {
  Profile profile = transformer_profile(1, 4, 1, 1);
  profile.fingerprint = "abc";
  profile.dtype = "bf16";
  profile.micro_batch_size = 4;
  const Cluster cluster = cluster_of(3);
  PlanRequest request = request_of(2);
  request.global_batch = 32;
  const auto plan = make_plan(profile, cluster, request, bound_scorer);
  REQUIRE(plan.has_value());
  CHECK(plan->inputs.profile_fingerprint == "abc");
  CHECK(plan->inputs.cluster == cluster);
  CHECK(plan->dtype == "bf16");
  CHECK(plan->global_batch == 32);
  CHECK(plan->micro_batch_size == 4);
  CHECK(plan->parallel == Parallel{.pipeline = 2});
  CHECK(plan->stages[1].devices == std::vector<std::string>{"device1"});
  CHECK(says(*plan, "1 of 3 devices are not used"));
}

TEST_CASE("stages add up the costs of their layers on their device") {
  Profile profile = transformer_profile(1, 2, 2, 3);
  Cluster cluster = cluster_of(2);
  cluster.devices[1].speed = 2;
  const auto plan = make_plan(profile, cluster, request_of(2, "bottleneck"), bound_scorer);
  REQUIRE(plan.has_value());
  // 1 2 | 2 3 on a device twice as fast: (1 + 2) x 3 = 9 ms and (2 + 3) x 3 / 2 = 7.5 ms.
  CHECK(sizes_of(*plan) == std::vector<int>{2, 2});
  CHECK(plan->stages[1].forward.mean.value() == Approx(2.5e-3));
  CHECK(plan->stages[1].backward.mean.value() == Approx(5e-3));
  CHECK(plan->bottleneck.value() == Approx(9e-3));
  CHECK_FALSE(plan->stages[1].input_grad.has_value());
}

TEST_CASE("the first stage has no input gradient where the profile says so of the first layer") {
  std::vector<Layer> layers;
  for (int i = 0; i < 4; ++i) {
    layers.push_back(decoder_of(i, 1));
    layers.back().input_grad = Duration{.mean = Seconds(i == 0 ? 0 : 1e-3)};
    layers.back().weight_grad = Duration{.mean = Seconds(i == 0 ? 2e-3 : 1e-3)};
  }
  const auto plan =
      make_plan(chain_profile(layers), cluster_of(2), request_of(2), bound_scorer).value();
  CHECK(plan.stages[0].input_grad->mean == Seconds{0});
  CHECK(plan.stages[0].weight_grad->mean.value() == doctest::Approx(4e-3));
  CHECK(plan.stages[1].input_grad->mean.value() == doctest::Approx(2e-3));
}

TEST_CASE("the scorer decides where the bottleneck is tied") {
  // 2 1 2 on two stages: both cuts have a slowest stage of 3; behind a short stage it costs less.
  std::vector<Layer> layers{decoder_of(0, 2), decoder_of(1, 1), decoder_of(2, 2)};
  const auto early = make_plan(
      chain_profile(layers), cluster_of(2), request_of(2), [](const Plan& plan) -> Result<Seconds> {
        return Seconds(100.0 + static_cast<double>(plan.stages[0].layers.size()));
      });
  const auto late = make_plan(
      chain_profile(layers), cluster_of(2), request_of(2), [](const Plan& plan) -> Result<Seconds> {
        return Seconds(100.0 + static_cast<double>(plan.stages[1].layers.size()));
      });
  REQUIRE((early.has_value() && late.has_value()));
  CHECK(sizes_of(*early) == std::vector<int>{1, 2});
  CHECK(sizes_of(*late) == std::vector<int>{2, 1});
}

TEST_CASE("a proven optimum has no gap and a stopped search states one") {
  std::vector<Layer> layers;
  for (int i = 0; i < 12; ++i) layers.push_back(decoder_of(i, 1 + i % 5));
  const Profile profile = chain_profile(layers);
  const auto proven = make_plan(profile, cluster_of(4), request_of(4), bound_scorer);
  REQUIRE(proven.has_value());
  CHECK(proven->exact);
  CHECK(proven->gap == 0);
  CHECK(proven->bound.value() == Approx(bound_scorer(*proven)->value()));
  PlanRequest hasty = request_of(4);
  hasty.scored_plans = 1;
  const auto slow = make_plan(profile, cluster_of(4), hasty, [](const Plan& plan) {
    return bound_scorer(plan).map([](Seconds time) { return 1.5 * time; });
  });
  REQUIRE(slow.has_value());
  CHECK_FALSE(slow->exact);
  CHECK(slow->gap > 0.4);
  CHECK(says(*slow, "is the best of 1 simulated ones"));
}

TEST_CASE("the bottleneck objective needs no scorer") {
  const auto plan = make_plan(transformer_profile(1, 6, 1, 3), cluster_of(3),
                              request_of(3, "bottleneck"), PlanScorer());
  REQUIRE(plan.has_value());
  CHECK(plan->exact);
  CHECK(plan->bound.value() == Approx(10e-3));  // 30 ms of work on three devices.
  CHECK(plan->gap == Approx(plan->bottleneck.value() / 10e-3 - 1));
  REQUIRE_FALSE(plan->baselines.empty());
  CHECK_FALSE(plan->baselines[0].iteration.has_value());
  CHECK_FALSE(plan->boundaries[0].one_layer_later.has_value());
}

TEST_CASE("forward-only plans balance the forward alone") {
  std::vector<Layer> layers{decoder_of(0, 1), decoder_of(1, 1), decoder_of(2, 2)};
  layers[0].backward.mean = Seconds(1);
  PlanRequest request = request_of(2, "bottleneck");
  request.passes = Passes::kForwardOnly;
  const auto plan = make_plan(chain_profile(layers), cluster_of(2), request, bound_scorer);
  REQUIRE(plan.has_value());
  CHECK(sizes_of(*plan) == std::vector<int>{2, 1});
  CHECK(plan->bottleneck.value() == Approx(2e-3));
}

TEST_CASE("the bottleneck is explained by the layer that cannot be divided") {
  const auto plan = make_plan(transformer_profile(0.2, 4, 1, 7), cluster_of(3),
                              request_of(3, "bottleneck"), bound_scorer);
  REQUIRE(plan.has_value());
  CHECK(plan->notes[0] ==
        "stage 2 is the bottleneck with 21.0 ms per micro-batch: it is the single layer 'H', "
        "which cannot be divided");
  CHECK(plan->notes[1] ==
        "'H' is the heaviest layer (21.0 ms; the median layer takes 3.00 ms): stage 2 holds it "
        "alone");
}

TEST_CASE("boundaries say what moving them by one layer costs") {
  std::vector<Layer> layers;
  for (int i = 0; i < 4; ++i) layers.push_back(decoder_of(i, 1));
  for (Layer& layer : layers) layer.output = Bytes{100};
  const auto plan = make_plan(chain_profile(layers), cluster_of(2), request_of(2), bound_scorer);
  REQUIRE(plan.has_value());
  REQUIRE(plan->boundaries.size() == 1);
  const Boundary& boundary = plan->boundaries[0];
  CHECK(boundary.after_layer == "t1");
  CHECK(boundary.bytes == Bytes{100});
  // 2 | 2 takes 6 + 48 ms; 1 | 3 takes 3 + 72, 3 | 1 takes 72.
  REQUIRE((boundary.one_layer_earlier.has_value() && boundary.one_layer_later.has_value()));
  CHECK(boundary.one_layer_earlier->value() == Approx(21e-3));
  CHECK(boundary.one_layer_later->value() == Approx(18e-3));
}

TEST_CASE("a border that would empty a stage is not moved") {
  const auto plan =
      make_plan(transformer_profile(1, 0, 1, 1), cluster_of(2), request_of(2), bound_scorer);
  REQUIRE(plan.has_value());
  CHECK_FALSE(plan->boundaries[0].one_layer_earlier.has_value());
  CHECK_FALSE(plan->boundaries[0].one_layer_later.has_value());
}

TEST_CASE("tied layers apart are named with what they exchange once per step") {
  std::vector<Layer> layers{testing::layer_of("wte", "embedding", 1)};
  layers[0].tie_group = "words";
  layers[0].gradients = Bytes{400000000};
  for (int i = 0; i < 10; ++i) layers.push_back(decoder_of(i, 1));
  layers.push_back(layers[0]);
  layers.back().id = "head";
  const auto plan = make_plan(chain_profile(layers), cluster_of(2), request_of(2), bound_scorer);
  REQUIRE(plan.has_value());
  CHECK(says(*plan, "'wte' on stage 0 and 'head' on stage 1 are tied"));
  CHECK(says(*plan, "400000000 bytes of gradient are all-reduced once per step"));
}

TEST_CASE("the optimizer step is that of the slowest share") {
  std::vector<Layer> layers{decoder_of(0, 1), decoder_of(1, 1), decoder_of(2, 1), decoder_of(3, 1)};
  for (Layer& layer : layers) layer.parameters = Bytes{100};
  layers[3].parameters = Bytes{500};
  Profile profile = chain_profile(layers);
  profile.optimizer_step.mean = Seconds(8e-3);
  const auto plan = make_plan(profile, cluster_of(2), request_of(2, "bottleneck"), bound_scorer);
  REQUIRE(plan.has_value());
  CHECK(sizes_of(*plan) == std::vector<int>{2, 2});
  CHECK(plan->optimizer_step.mean.value() == Approx(6e-3));
}

TEST_CASE("the memory margin is kept free and shown") {
  std::vector<Layer> layers{decoder_of(0, 1), decoder_of(1, 1)};
  for (Layer& layer : layers) layer.parameters = Bytes{90};
  PlanRequest request = request_of(2);
  request.memory_margin = 0.1;
  const auto plan =
      make_plan(chain_profile(layers), uniform_cluster(2, Bytes{100}, {}), request, bound_scorer);
  REQUIRE(plan.has_value());
  CHECK(plan->stages[0].memory.margin == Bytes{10});
  CHECK(plan->stages[0].memory.total() == Bytes{100});
  request.memory_margin = 0.11;
  CHECK(error_of(chain_profile(layers), uniform_cluster(2, Bytes{100}, {}), request)
            .find("short by 1 B on stage 0 at best") != std::string::npos);
}

TEST_CASE("requests that contradict themselves are refused") {
  const Profile profile = transformer_profile(1, 4, 1, 1);
  CHECK(error_of(profile, cluster_of(2), request_of(3)) ==
        "--stages: 3 stages need 3 devices, the cluster has 2\n"
        "  why: every stage runs on a device of its own\n"
        "  fix: use --stages 2 or fewer, or add devices");
  CHECK(error_of(profile, cluster_of(9), request_of(7)).find("7 stages but only 6 layers") !=
        std::string::npos);
  CHECK(error_of(profile, cluster_of(2), request_of(2, "bottelneck"))
            .find("(did you mean 'bottleneck'?)") != std::string::npos);
  CHECK(error_of(profile, cluster_of(2), request_of(0)).find("--stages: 0 stages") == 0);
  PlanRequest request = request_of(2);
  request.in_flight.pop_back();
  CHECK(error_of(profile, cluster_of(2), request).find("in-flight counts") == 0);
  request = request_of(2);
  request.memory_margin = std::numeric_limits<double>::quiet_NaN();
  CHECK(error_of(profile, cluster_of(2), request).find("memory margin") == 0);
}

TEST_CASE("times and sizes beyond whole numbers are refused") {
  std::vector<Layer> layers{decoder_of(0, 1), decoder_of(1, 1)};
  layers[0].forward.mean = Seconds(1e10);
  CHECK(error_of(chain_profile(layers), cluster_of(2), request_of(2)).find("can be planned") !=
        std::string::npos);
  layers[0] = decoder_of(0, 1);
  layers[0].saved_activation = Bytes{std::numeric_limits<std::int64_t>::max() / 2};
  CHECK(error_of(chain_profile(layers), cluster_of(2), request_of(2)).find("can be planned") !=
        std::string::npos);
}

TEST_CASE("no default split that fits is faster than the plan") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<Layer> layers;
    for (int k = 0; k < 14; ++k) {
      layers.push_back(decoder_of(k, 1 + static_cast<double>(random() % 9)));
      layers.back().parameters = Bytes{static_cast<std::int64_t>(random() % 50)};
      layers.back().output = Bytes{static_cast<std::int64_t>(random() % 50)};
    }
    PlanRequest request = request_of(4);
    request.scored_plans = 10;
    const auto plan = make_plan(chain_profile(layers), cluster_of(4), request, bound_scorer);
    REQUIRE(plan.has_value());
    REQUIRE(plan->baselines.size() >= 2);
    for (const Baseline& baseline : plan->baselines) {
      REQUIRE(baseline.iteration->value() >= bound_scorer(*plan)->value() * (1 - 1e-9));
    }
  }
}

TEST_CASE("equal requests give equal plans") {
  std::vector<Layer> layers;
  for (int i = 0; i < 40; ++i) layers.push_back(decoder_of(i, 1 + i * 7 % 5));
  const Profile profile = chain_profile(layers);
  const auto first = make_plan(profile, cluster_of(8), request_of(8), bound_scorer);
  const auto second = make_plan(profile, cluster_of(8), request_of(8), bound_scorer);
  REQUIRE((first.has_value() && second.has_value()));
  CHECK(*first == *second);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
