#include "report/compare.h"

#include <doctest/doctest.h>

#include "tests/support/simulation_builders.h"

using namespace headrace;
using headrace::testing::uniform_input;

TEST_SUITE_BEGIN("report/compare");

namespace {

SimulationOutcome prediction() {
  return simulate(uniform_input("1f1b", 2, 4)).value();
}

/// The same schedule with stage 1 twice as slow, and five iterations around its time.
Timeline measurement() {
  auto input = uniform_input("1f1b", 2, 4);
  input.stages[1] = {.forward = Seconds{2}, .backward = Seconds{4}};
  Timeline timeline = simulate(input).value().timeline;
  timeline.source = TimelineSource::kMeasured;
  const double makespan = makespan_of(timeline).value();
  for (const double factor : {1.0, 0.9, 1.1, 0.98, 1.02}) {
    timeline.iterations.push_back({Seconds(makespan * factor), Seconds(makespan * factor)});
  }
  return timeline;
}

}  // namespace

TEST_CASE("errors are signed and relative to the measurement") {
  const SimulationOutcome predicted = prediction();
  const auto comparison = compare(predicted.report, predicted.timeline, measurement()).value();
  CHECK(comparison.per_stage[0].forward_error == doctest::Approx(0));
  CHECK(comparison.per_stage[1].forward_error == doctest::Approx(-0.5));
  CHECK(comparison.per_stage[1].backward_error == doctest::Approx(-0.5));
  CHECK(comparison.predicted == Seconds{15});
  CHECK(comparison.measured == Seconds{27});  // F + 4 x (F + B) of stage 1 + B
  CHECK(comparison.relative_error == doctest::Approx(15.0 / 27 - 1));
  CHECK(comparison.formula_error == doctest::Approx(15.0 / 27 - 1));
}

TEST_CASE("the noise floor is half the interquartile range over the median") {
  const SimulationOutcome predicted = prediction();
  const auto comparison = compare(predicted.report, predicted.timeline, measurement()).value();
  CHECK(comparison.noise_floor == doctest::Approx(0.02));  // quartiles 0.98 and 1.02
}

TEST_CASE("the explanation begins with the stage that was slower") {
  const SimulationOutcome predicted = prediction();
  const auto comparison = compare(predicted.report, predicted.timeline, measurement()).value();
  REQUIRE(!comparison.explanation.empty());
  CHECK(comparison.explanation.front() ==
        "+12000.000 ms  stage 1 computes slower than predicted (8 actions in a row)");
}

TEST_CASE("backward is I and W together where it is split") {
  SimulationOutcome predicted = prediction();
  Timeline measured = measurement();
  std::vector<TimelineEvent> split;
  for (TimelineEvent event : measured.events) {
    if (event.action.kind != ActionKind::kBackward) {
      split.push_back(event);
      continue;
    }
    const Seconds end = event.end;
    event.action.kind = ActionKind::kInputGrad;
    event.end = event.start + (end - event.start) * 0.25;
    split.push_back(event);
    split.push_back({event.device, event.action, event.end, end});
    split.back().action.kind = ActionKind::kWeightGrad;
  }
  measured.events = split;
  predicted.timeline.events.clear();  // its B cannot be followed through I and W
  CHECK(compare(predicted.report, predicted.timeline, measured)->per_stage.empty());
  measured.iterations.clear();
  const SimulationOutcome again = prediction();
  const auto refused = compare(again.report, again.timeline, measured);
  REQUIRE(!refused);
  CHECK(refused.error().what == "1B0 was predicted and not measured");
}

TEST_CASE("another shape is refused with both numbers") {
  const SimulationOutcome predicted = simulate(uniform_input("1f1b", 2, 8)).value();
  const auto refused = compare(predicted.report, predicted.timeline, measurement());
  REQUIRE(!refused);
  CHECK(to_string(refused.error()) ==
        "measured timeline: 8 micro-batches were predicted and 4 measured\n"
        "  fix: compare a run with the prediction of the same plan and schedule");
}

TEST_CASE("a timeline without events is no measurement") {
  const SimulationOutcome predicted = prediction();
  const Timeline empty{.devices = 2, .stages = 2, .microbatches = 4};
  const auto refused = compare(predicted.report, predicted.timeline, empty);
  REQUIRE(!refused);
  CHECK(refused.error().what == "no compute action was measured");
}

TEST_CASE("a prediction without a formula gets it from its stages") {
  SimulationOutcome predicted = prediction();
  predicted.report.formula = {};
  const auto comparison = compare(predicted.report, predicted.timeline, measurement()).value();
  CHECK(comparison.formula == Seconds{15});  // (4 + 2 - 1) x 3
}

TEST_CASE("memory is compared where one of the two knows it") {
  SimulationOutcome predicted = prediction();
  Timeline measured = measurement();
  CHECK(compare(predicted.report, predicted.timeline, measured)->memory.empty());
  predicted.report.per_device[1].peak_memory = Bytes{100};
  measured.memory = {{DeviceId{1}, Seconds{0}, Bytes{80}}, {DeviceId{1}, Seconds{1}, Bytes{90}}};
  const auto memory = compare(predicted.report, predicted.timeline, measured)->memory;
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].measured == std::nullopt);
  CHECK(memory[1] == MemoryComparison{1, Bytes{100}, Bytes{90}});
}
