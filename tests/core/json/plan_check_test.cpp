#include <string>

#include <doctest/doctest.h>

#include "tests/core/json/documents.h"
#include "tests/support/random_nouns.h"

namespace headrace {
namespace {

using testing::complaint;

/// Two stages on two devices, two layers each.
Plan small_plan() {
  Plan plan;
  plan.inputs.cluster = uniform_cluster(2, Bytes(1000), {});
  plan.model.name = "tiny";
  plan.parallel.pipeline = 2;
  plan.microbatches = 4;
  for (const char* id : {"0", "1"}) {
    const std::string number(id);
    plan.stages.push_back({.devices = {"device" + number},
                           .layers = {"a" + number, "b" + number},
                           .forward = {.mean = Seconds(1)},
                           .backward = {.mean = Seconds(2)},
                           .memory = {.parameters = Bytes(10), .margin = Bytes(5)}});
  }
  plan.boundaries.push_back({.stage = 0, .after_layer = "b0", .bytes = Bytes(7)});
  return plan;
}

std::string plan_complaint(const Plan& plan) {
  return complaint(plan_from_json(to_json(plan), "plan.json"));
}

TEST_SUITE_BEGIN("core/json/plan_check");

TEST_CASE("the small plan is accepted") {
  CHECK(plan_complaint(small_plan()) == "accepted");
}

TEST_CASE("stages are pipeline x virtual") {
  Plan plan = small_plan();
  plan.parallel.virtual_stages = 2;
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages: 2 stages, pipeline 2 x virtual 2 makes 4\n"
        "  fix: list every stage, or correct /parallel");
}

TEST_CASE("a stage has data x tensor devices of the cluster") {
  Plan plan = small_plan();
  plan.stages[1].devices = {"device01"};
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages/1/devices/0: device 'device01' is not in the plan's cluster "
        "(did you mean 'device0'?)\n"
        "  fix: use the id of a device in /inputs/cluster/devices");
  plan.stages[1].devices = {"device0", "device1"};
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages/1/devices: 2 devices, data 1 x tensor 1 makes 1\n"
        "  fix: name one device per replica, or correct /parallel");
  plan.parallel.data = 2;
  plan.stages[0].devices = {"device1", "device1"};
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages/0/devices/1: device 'device1' is listed twice\n"
        "  fix: give every replica a device of its own");
}

TEST_CASE("every layer stands in one stage and no stage is empty") {
  Plan plan = small_plan();
  plan.stages[1].layers = {"a1", "b0"};
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages/1/layers/1: layer 'b0' is already in stage 0\n"
        "  fix: keep every layer in exactly one stage");
  plan.stages[1].layers = {};
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages/1/layers: a stage without layers\n"
        "  fix: give it at least one layer");
}

TEST_CASE("recomputed layers stand in their stage") {
  Plan plan = small_plan();
  plan.stages[0].recompute = {"b0", "a1"};
  CHECK(plan_complaint(plan) ==
        "plan.json: /stages/0/recompute/1: layer 'a1' is not in this stage\n"
        "  fix: recompute only layers of the stage");
}

TEST_CASE("a border follows the last layer of a stage that has a next") {
  Plan plan = small_plan();
  plan.boundaries[0].after_layer = "a0";
  CHECK(plan_complaint(plan) ==
        "plan.json: /boundaries/0/after_layer: stage 0 ends with layer 'b0', not 'a0'\n"
        "  fix: name the last layer of the stage");
  plan.boundaries[0].stage = 1;
  CHECK(plan_complaint(plan) ==
        "plan.json: /boundaries/0/stage: no border follows stage 1, there are 2 stages\n"
        "  fix: use stages 0 to S - 2");
}

TEST_CASE("the position of a stage and the total of its memory follow from the rest") {
  const std::string text = to_json(small_plan());
  CHECK(complaint(plan_from_json(
            testing::changed(text, "\"total_bytes\": 15", "\"total_bytes\": 16"), "p")) ==
        "p: /stages/0/memory/total_bytes: expected 15, which follows from the rest, found 16\n"
        "  fix: write it like 15");
  CHECK(complaint(plan_from_json(testing::changed(text, "\"stage\": 1", "\"stage\": 5"), "p")) ==
        "p: /stages/1/stage: expected 1, which follows from the rest, found 5\n"
        "  fix: write it like 1");
}

TEST_CASE("a plan needs at least one micro-batch") {
  Plan plan = small_plan();
  plan.microbatches = 0;
  CHECK(plan_complaint(plan) ==
        "plan.json: /micro_batches: expected a whole number from 1 to 1000000, found 0\n"
        "  fix: write it like 1");
}

TEST_CASE("the spread of a time needs its mean") {
  Plan plan = small_plan();
  plan.stages[0].input_grad = Duration{.mean = Seconds(1)};
  const std::string text = testing::changed(to_json(plan), "      \"input_grad_s\": 1.0,\n", "");
  CHECK(complaint(plan_from_json(text, "p")) ==
        "p: /stages/0: key 'input_grad_s' is missing\n  fix: add \"input_grad_s\" here");
}

TEST_CASE("problems of the cluster inside a plan carry the whole pointer") {
  Plan plan = small_plan();
  plan.inputs.cluster.devices[1].id = "device0";
  CHECK(plan_complaint(plan).starts_with(
      "plan.json: /inputs/cluster/devices/1/id: device 'device0' is listed twice\n"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
