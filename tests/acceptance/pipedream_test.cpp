// Case O17: a PipeDream graph from file to stages and back.
#include "interop/pipedream.h"

#include <map>

#include <doctest/doctest.h>

#include "interop/importers.h"
#include "tests/acceptance/wiring.h"

namespace headrace {
namespace {

using doctest::Approx;

TEST_SUITE_BEGIN("acceptance/pipedream");

constexpr const char* kGraph =
    "node1 -- Embedding(100, 8) -- forward_compute_time=1.000, backward_compute_time=2.000, "
    "activation_size=8000000.0, parameter_size=3200.000\n"
    "node2 -- Linear(8, 8) -- forward_compute_time=3.000, backward_compute_time=6.000, "
    "activation_size=4000000.0, parameter_size=256.000\n"
    "node3 -- LSTM(8, 8) -- forward_compute_time=4.000, backward_compute_time=8.000, "
    "activation_size=[15000000.0; 500000.0; 500000.0], parameter_size=512.000\n"
    "node4 -- ReLU() -- forward_compute_time=2.000, backward_compute_time=4.000, "
    "activation_size=2000000.0, parameter_size=0.000\n"
    "node5 -- Linear(8, 8) -- forward_compute_time=5.000, backward_compute_time=10.000, "
    "activation_size=4000000.0, parameter_size=256.000\n"
    "node6 -- Linear(8, 2) -- forward_compute_time=3.000, backward_compute_time=6.000, "
    "activation_size=1000000.0, parameter_size=64.000\n"
    "\tnode1 -- node2\n\tnode2 -- node3\n\tnode3 -- node4\n\tnode4 -- node5\n\tnode5 -- node6\n";

Plan plan_with(int stages) {
  const auto profile = import_profile("pipedream", kGraph, "graph.txt");
  REQUIRE(profile.has_value());
  const auto plan =
      testing::plan_for(*profile, testing::devices_without_limit(stages),
                        {.stages = stages, .microbatches = 4, .objective = "bottleneck"});
  REQUIRE(plan.has_value());
  return *plan;
}

TEST_CASE("O17 two stages are cut at the lighter of two optimal borders") {
  const Plan plan = plan_with(2);
  CHECK(plan.bottleneck.value() == Approx(30e-3));
  CHECK(plan.stages[0].layers.back() == "node4");
  CHECK(plan.stages[0].output == Bytes{2000000});
}

TEST_CASE("O17 three stages are cut at the lightest of three optimal cuts") {
  const Plan plan = plan_with(3);
  CHECK(plan.bottleneck.value() == Approx(24e-3));
  CHECK(plan.stages[0].layers.back() == "node2");
  CHECK(plan.stages[1].layers.back() == "node4");
}

TEST_CASE("O17 a tuple output is the sum of its parts") {
  const auto profile = import_profile("pipedream", kGraph, "graph.txt");
  REQUIRE(profile.has_value());
  CHECK(profile->graph.layers()[2].output == Bytes{16000000});
}

TEST_CASE("O17 the written graph says the stage of every node") {
  const auto profile = import_profile("pipedream", kGraph, "graph.txt");
  REQUIRE(profile.has_value());
  const Plan plan = plan_with(2);
  std::vector<int> stage_of_layer(6, 1);
  for (const std::string& id : plan.stages[0].layers) {
    stage_of_layer[index_of(*profile->graph.find(id))] = 0;
  }
  const std::string text = pipedream_text(*profile, stage_of_layer);
  CHECK(text.find("node4 -- ReLU() -- forward_compute_time=2.000, backward_compute_time=4.000, "
                  "activation_size=2000000.000, parameter_size=0.000 -- stage_id=0\n") !=
        std::string::npos);
  CHECK(text.find("parameter_size=64.000 -- stage_id=1\n\tnode1 -- node2\n") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
