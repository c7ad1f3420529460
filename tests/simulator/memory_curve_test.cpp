#include "simulator/memory_curve.h"

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using testing::uniform_input;

SimulationInput input_of(const std::string& csv, const StageCost& cost) {
  SimulationInput input{.schedule = schedule_from_csv(csv, "test").value()};
  input.stages.assign(static_cast<std::size_t>(input.schedule.stages), cost);
  input.hop_forward.assign(input.stages.size(), Seconds{0});
  input.hop_backward = input.hop_forward;
  return input;
}

constexpr StageCost kCost{.forward = Seconds{1},
                          .backward = Seconds{2},
                          .input_grad = Seconds{1},
                          .weight_grad = Seconds{1},
                          .recompute = Seconds{1},
                          .saved_activation = Bytes{100}};

DeviceReport device(const SimulationInput& input, std::size_t d = 0) {
  return simulate(input).value().report.per_device[d];
}

TEST_SUITE_BEGIN("simulator/memory_curve");

TEST_CASE("activations live from the start of F to the end of B") {
  const auto outcome = simulate(input_of("0F0,0F1,0B0,0B1\n", kCost)).value();
  std::vector<std::pair<double, std::int64_t>> curve;
  for (const MemorySample& sample : outcome.timeline.memory) {
    curve.emplace_back(sample.time.value(), sample.bytes.value());
  }
  CHECK(curve ==
        std::vector<std::pair<double, std::int64_t>>{{0, 100}, {1, 200}, {4, 100}, {6, 0}});
}

TEST_CASE("a deferred weight gradient holds more than the forward kept") {
  StageCost cost = kCost;
  cost.stashed_gradient = Bytes{30};
  const DeviceReport report = device(input_of("0F0,0F1,0I0,0I1,0W0,0W1\n", cost));
  CHECK(report.peak_memory == Bytes{260});
  CHECK(report.memory_items.deferred_weight_grad == Bytes{160});  // 0W0's 130 and 0I1's stash.
  CHECK(report.memory_items.activations == Bytes{100});
  CHECK(report.peak_activations == 2);
}

TEST_CASE("recomputed stages keep their input until R brings the rest back") {
  StageCost cost = kCost;
  cost.kept_input = Bytes{10};
  const DeviceReport report = device(input_of("0F0,0F1,0F2,0R0,0B0,0R1,0B1,0R2,0B2\n", cost));
  CHECK(report.peak_memory == Bytes{120});
  CHECK(report.memory_items.activations == Bytes{30});
  CHECK(report.memory_items.recompute == Bytes{90});
  CHECK(report.busy == Seconds{12});
}

TEST_CASE("messages are held by both ends while they travel and wait") {
  StageCost cost = kCost;
  cost.output = Bytes{7};
  SimulationInput input = input_of("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n", cost);
  input.hop_forward[0] = Seconds(0.5);
  // Stage 1 is the slower one: of three outputs, one is consumed at 1.5 and two wait for it.
  CHECK(device(input, 1).memory_items.communication == Bytes{14});
  CHECK(device(input, 1).peak_memory == Bytes{114});
}

TEST_CASE("reserved message buffers are the least that is counted") {
  StageCost cost = kCost;
  cost.fixed.communication = Bytes{50};
  CHECK(device(input_of("0F0,0B0\n", cost)).memory_items.communication == Bytes{50});
}

TEST_CASE("further versions of the weights are counted beside the first") {
  StageCost cost = kCost;
  cost.fixed.parameters = Bytes{1000};
  SimulationInput input = input_of("0F0,0B0\n", cost);
  input.schedule.weight_versions = {3};
  const DeviceReport report = device(input);
  CHECK(report.memory_items.weight_versions == Bytes{2000});
  CHECK(report.peak_memory == Bytes{3100});
}

TEST_CASE("items of the peak add up to it in every schedule and the curve reaches it") {
  for (const char* name : {"1f1b", "gpipe", "eager-1f1b"}) {
    SimulationInput input = uniform_input(name, 4, 9, {.hop = 0.3});
    for (StageCost& stage : input.stages) {
      stage.saved_activation = Bytes{100};
      stage.output = Bytes{9};
      stage.fixed.parameters = Bytes{1000};
    }
    const auto outcome = simulate(input).value();
    for (std::size_t d = 0; d < 4; ++d) {
      Bytes top{0};
      for (const MemorySample& sample : outcome.timeline.memory) {
        if (index_of(sample.device) == d) top = std::max(top, sample.bytes);
      }
      CHECK(top == outcome.report.per_device[d].peak_memory);
      CHECK(top == outcome.report.per_device[d].memory_items.total());
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
