#include "simulator/offload.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/critical_path.h"
#include "simulator/engine.h"
#include "simulator/event_engine.h"
#include "simulator/lowering.h"
#include "simulator/schedule_catalogue.h"
#include "tests/support/random_schedule.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

Schedule csv(const std::string& text) {
  return schedule_from_csv(text, "test").value();
}

Schedule offloaded(const std::string& text) {
  const Schedule schedule = csv(text);
  return with_offload(schedule, std::vector<bool>(static_cast<std::size_t>(schedule.stages), true));
}

/// F 1 s, B 2 s, copies `copy` s, 100 bytes kept.
SimulationInput input_of(Schedule schedule, double copy) {
  SimulationInput input{.schedule = std::move(schedule)};
  input.stages.assign(static_cast<std::size_t>(input.schedule.stages),
                      {.forward = Seconds{1},
                       .backward = Seconds{2},
                       .input_grad = Seconds{1},
                       .weight_grad = Seconds{1},
                       .offload = Seconds(copy),
                       .saved_activation = Bytes{100}});
  input.hop_forward.assign(input.stages.size(), Seconds{0});
  input.hop_backward = input.hop_forward;
  return input;
}

TEST_SUITE_BEGIN("simulator/offload");

TEST_CASE("activations go behind F and come back one computation early") {
  CHECK(to_csv(offloaded("0F0,0F1,0F2,0B0,0B1,0B2\n")) ==
        "0F0,0OFFLOAD0,0F1,0OFFLOAD1,0RELOAD0,0F2,0OFFLOAD2,0RELOAD1,0B0,0RELOAD2,0B1,0B2\n");
}

TEST_CASE("what is needed at once stays") {
  CHECK(to_csv(offloaded("0F0,0B0,0F1,0B1\n")) == "0F0,0B0,0F1,0B1\n");
  CHECK(to_csv(offloaded("0F0,0F1,0B0,0B1\n")) == "0F0,0F1,0B0,0B1\n");
  CHECK(to_csv(offloaded("0F0,0F1,0F2\n")) == "0F0,0F1,0F2\n");
}

TEST_CASE("R is what needs the activations first; an overlapped pair is one computation") {
  CHECK(to_csv(offloaded("0F0,0F1,0F2,0R0,0B0,0R1,0B1,0R2,0B2\n"))
            .starts_with("0F0,0OFFLOAD0,0F1,0OFFLOAD1,0RELOAD0,0F2,0OFFLOAD2,0R0,0RELOAD1,0B0,"));
  CHECK(to_csv(offloaded("0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n")) ==
        "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n");
}

TEST_CASE("copies out of order are refused") {
  const auto error = [](const std::string& text) {
    return schedule_from_csv(text, "test").error().what;
  };
  CHECK(error("0OFFLOAD0,0F0,0B0\n") == "0OFFLOAD0 comes before its forward");
  CHECK(error("0F0,0RELOAD0,0B0\n") == "0RELOAD0 comes before its OFFLOAD");
  CHECK(error("0F0,0OFFLOAD0,0B0\n") == "0B0 needs activations that OFFLOAD took away");
  CHECK(error("0F0,0OFFLOAD0,0R0,0RELOAD0,0B0\n") ==
        "0R0 needs activations that OFFLOAD took away");
  CHECK(error("0F0,0OFFLOAD0,0OFFLOAD0,0RELOAD0,0B0\n") == "0OFFLOAD0 runs twice");
  CHECK(error("0F0,0OFFLOAD0,0RELOAD0,0RELOAD0,0B0\n") == "0RELOAD0 runs twice");
  CHECK(error("0F0,0B0,0OFFLOAD0\n") == "0OFFLOAD0 follows what needs the activations");
}

TEST_CASE("copies run beside the computation and one after another per direction") {
  // F 0-3; out 1-3, 3-5 (queued), back 5-7 (posted at 2, waits for its own OFFLOAD, 3) ...
  const auto input =
      input_of(csv("0F0,0OFFLOAD0,0F1,0OFFLOAD1,0RELOAD0,0F2,0RELOAD1,0B0,0B1,0B2\n"), 2);
  const ActionTimes times = time_actions(input).value();
  const std::vector<double> start = {0, 1, 1, 3, 3, 2, 5, 5, 7, 9};
  const std::vector<double> end = {1, 3, 2, 5, 5, 3, 7, 7, 9, 11};
  for (std::size_t i = 0; i < start.size(); ++i) {
    CAPTURE(i);
    CHECK(times.start[i] == Seconds(start[i]));
    CHECK(times.end[i] == Seconds(end[i]));
  }
  SUBCASE("waiting for a copy is exposed communication, and said so") {
    const auto report = simulate(input).value().report;
    CHECK(report.makespan == Seconds{11});
    CHECK(report.per_device[0].exposed_communication == Seconds{2});
    const auto chain = causal_chain(input.schedule, times, *action_from_text("0B0"));
    REQUIRE(chain.size() == 4);
    CHECK(to_string(chain[2].action) == "0RELOAD0");
    CHECK(chain[3].cause == Cause::kCopy);
    CHECK(to_string(chain[1].action) == "0OFFLOAD0");
  }
  SUBCASE("memory is free from the end of OFFLOAD to the start of RELOAD") {
    const auto report =
        simulate(input_of(csv("0F0,0OFFLOAD0,0F1,0F2,0RELOAD0,0F3,0B0,0B1,0B2,0B3\n"), 0.5))
            .value()
            .report;
    CHECK(report.per_device[0].peak_memory == Bytes{400});
    CHECK(report.per_device[0].peak_host_memory == Bytes{100});
  }
}

TEST_CASE("fast copies cost no time and save memory; slow ones never save time") {
  for (const char* name : {"gpipe", "1f1b", "zb-h1"}) {
    CAPTURE(name);
    const Schedule plain =
        make_schedule({.name = name, .devices = 4, .stages = 4, .microbatches = 16}).value();
    const Schedule copied = with_offload(plain, std::vector<bool>(4, true));
    const auto before = simulate(input_of(plain, 0)).value().report;
    const auto fast = simulate(input_of(copied, 0.25)).value().report;
    CHECK(fast.makespan == before.makespan);
    CHECK(fast.per_device[0].peak_memory <= before.per_device[0].peak_memory);
    Seconds last = fast.makespan;
    for (const double copy : {1.0, 2.0, 4.0, 8.0}) {
      const Seconds slower = simulate(input_of(copied, copy)).value().report.makespan;
      CHECK(slower >= last);
      last = slower;
    }
    CHECK(last > before.makespan);
  }
  const Schedule gpipe =
      make_schedule({.name = "gpipe", .devices = 4, .stages = 4, .microbatches = 16}).value();
  const auto report =
      simulate(input_of(with_offload(gpipe, std::vector<bool>(4, true)), 0.5)).value().report;
  CHECK(report.per_device[0].peak_memory <= Bytes{400});  // 1,600 without.
  CHECK(report.per_device[0].peak_host_memory >= Bytes{1300});
}

TEST_CASE("both engines agree on 1000 random schedules with copies") {
  std::mt19937 random(17);
  for (int round = 0; round < 1000; ++round) {
    SimulationInput input = testing::random_input(random);
    std::vector<bool> chosen(input.stages.size());
    for (std::size_t s = 0; s < chosen.size(); ++s) {
      chosen[s] = random() % 2 == 0;
      input.stages[s].offload = Seconds(static_cast<double>(random() % 4));
    }
    input.schedule = with_offload(std::move(input.schedule), chosen);
    REQUIRE(validate(input.schedule).has_value());
    input.schedule = lower(input.schedule).value();
    const ActionTimes expected = time_actions(input).value();
    const ActionTimes times = time_events(input, {}).value();
    REQUIRE(times.start == expected.start);
    REQUIRE(times.end == expected.end);
    const auto outcome = simulate(input).value();
    for (const DeviceReport& device : outcome.report.per_device) {
      const Seconds sum = device.busy + device.exposed_communication + device.wait + device.idle;
      CHECK(sum.value() == doctest::Approx(outcome.report.makespan.value()));
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
