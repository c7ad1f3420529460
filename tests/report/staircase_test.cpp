// Timelines drawn as pictures.
#include <doctest/doctest.h>

#include "report/text_report.h"
#include "tests/support/simulation_builders.h"

using namespace headrace;
using headrace::testing::uniform_input;

TEST_SUITE_BEGIN("report/staircase");

namespace {

Timeline timeline_of(const SimulationInput& input) {
  return simulate(input).value().timeline;
}

}  // namespace

TEST_CASE("1F1B with equal forward and backward is the picture of the house style") {
  const Timeline timeline = timeline_of(uniform_input("1f1b", 2, 3, {.forward = 1, .backward = 1}));
  CHECK(staircase_text(timeline) ==
        "stage 0 | F0 F1 .  B0 F2 B1 .  B2\n"
        "stage 1 | .  F0 B0 F1 B1 F2 B2 .\n");
}

TEST_CASE("an action of two ticks goes on as a dash") {
  CHECK(staircase_text(timeline_of(uniform_input("gpipe", 2, 2))) ==
        "stage 0 | F0 F1 .  .  .  B0 -  B1 -\n"
        "stage 1 | .  F0 F1 B0 -  B1 -  .  .\n");
}

TEST_CASE("times that are not whole in binary still fall on ticks") {
  const Timeline timeline =
      timeline_of(uniform_input("1f1b", 2, 3, {.forward = 0.1, .backward = 0.1}));
  CHECK(staircase_text(timeline) ==
        "stage 0 | F0 F1 .  B0 F2 B1 .  B2\n"
        "stage 1 | .  F0 B0 F1 B1 F2 B2 .\n");
}

TEST_CASE("with two stages on a device the actions name their stage") {
  const Schedule schedule{.stages = 2,
                          .devices = 1,
                          .microbatches = 1,
                          .device_of_stage = {DeviceId{0}, DeviceId{0}},
                          .rows = {{*action_from_text("0F0"), *action_from_text("1F0"),
                                    *action_from_text("1B0"), *action_from_text("0B0")}}};
  const auto input = testing::input_for(schedule, {1, 1}, {1, 1});
  CHECK(staircase_text(timeline_of(input)) == "device 0 | 0F0 1F0 1B0 0B0\n");
}

TEST_CASE("a picture that is too wide or has no tick is left out") {
  CHECK(staircase_text(timeline_of(uniform_input("1f1b", 4, 60))).empty());
  CHECK(staircase_text(timeline_of(uniform_input("1f1b", 2, 2, {.forward = 1, .backward = 1.618})))
            .empty());
  CHECK(staircase_text(Timeline{}).empty());
}
