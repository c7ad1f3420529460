// A cut that the caller decides is taken as it is, or refused with its numbers.
#include "planner/given_split.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "planner/planner.h"
#include "tests/support/chain_builders.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("planner/given_split");

/// Two stages of eight equal layers; the scorer sees the slowest stage only.
Result<Plan> plan_eight_layers(std::vector<int> counts, std::optional<Bytes> memory = {}) {
  std::vector<Layer> layers;
  for (int i = 0; i < 8; ++i) {
    layers.push_back(testing::decoder_of(i, 1));
    layers.back().parameters = Bytes{100};
  }
  const PlanRequest request{.stages = 2,
                            .microbatches = 4,
                            .in_flight = {2, 1},
                            .passes = Passes::kWholeBackward,
                            .layers_per_stage = std::move(counts)};
  return make_plan(testing::chain_profile(std::move(layers)), uniform_cluster(2, memory, {}),
                   request, [](const Plan& plan) { return Result<Seconds>(5 * plan.bottleneck); });
}

TEST_CASE("the given split is the plan") {
  const auto plan = plan_eight_layers({6, 2});
  REQUIRE(plan.has_value());
  CHECK(plan->stages[0].layers.size() == 6);
  CHECK(plan->stages[1].layers.size() == 2);
  CHECK(plan->bottleneck.value() == doctest::Approx(18e-3));
  CHECK_FALSE(plan->exact);
}

TEST_CASE("a given split is measured against a bound of all splits") {
  const auto plan = plan_eight_layers({6, 2});
  REQUIRE(plan.has_value());
  CHECK(plan->bound <= 5 * Seconds(12e-3));  // What the even split takes.
  CHECK(plan->gap == doctest::Approx(5 * 18e-3 / plan->bound.value() - 1));
  const auto says_given = [](const std::string& note) {
    return note.find("the given split takes 90.0 ms") != std::string::npos;
  };
  CHECK(std::ranges::any_of(plan->notes, says_given));
}

TEST_CASE("counts that do not cover the chain are refused with both numbers") {
  const auto plan = plan_eight_layers({6, 3});
  REQUIRE_FALSE(plan.has_value());
  CHECK(to_string(plan.error()) ==
        "--split: the stages hold 9 layers, the model has 8\n  fix: give numbers that add up to 8");
  CHECK(exit_status(plan.error().code) == 2);
}

TEST_CASE("a count for each stage is needed and none may be empty") {
  const auto fewer = borders_of_counts(std::vector{8}, 2, 8);
  REQUIRE_FALSE(fewer.has_value());
  CHECK(fewer.error().what == "1 numbers of layers for 2 stages");
  const auto empty = borders_of_counts(std::vector{8, 0}, 2, 8);
  REQUIRE_FALSE(empty.has_value());
  CHECK(empty.error().what == "a stage without layers");
}

TEST_CASE("counts that would overflow are refused") {
  const int most = std::numeric_limits<int>::max();
  CHECK_FALSE(borders_of_counts(std::vector{most, most, 2}, 3, 0).has_value());
}

TEST_CASE("a given split that does not fit in memory is infeasible") {
  const auto plan = plan_eight_layers({6, 2}, Bytes{500});
  REQUIRE_FALSE(plan.has_value());
  CHECK(to_string(plan.error()) ==
        "--split: stage 0 needs 600 B, its device has 500 B\n"
        "  fix: give stage 0 fewer layers, or drop --split");
  CHECK(exit_status(plan.error().code) == 4);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
