#include "simulator/event_engine.h"

#include <algorithm>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/lowering.h"
#include "tests/support/random_schedule.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using Semantics = CommunicationSemantics;
using Streams = CommunicationStreams;
using testing::input_for;

SimulationInput unit_input(const std::string& csv, double hop) {
  const Schedule schedule = schedule_from_csv(csv, "test.csv").value();
  const std::vector<double> ones(static_cast<std::size_t>(schedule.stages), 1);
  return input_for(schedule, ones, ones, hop);
}

/// Start of the action, by its name.
double start_of(const SimulationInput& input, const ActionTimes& times, const std::string& name) {
  for (std::size_t d = 0; d < input.schedule.rows.size(); ++d) {
    for (std::size_t step = 0; step < input.schedule.rows[d].size(); ++step) {
      if (to_string(input.schedule.rows[d][step]) == name) {
        return times.start[times.row_begin[d] + step].value();
      }
    }
  }
  FAIL("no action " << name);
  return -1;
}

double makespan(const SimulationInput& input, const CommunicationModel& model) {
  const ActionTimes times = time_events(input, model).value();
  return std::ranges::max_element(times.end)->value();
}

TEST_SUITE_BEGIN("simulator/event_engine");

TEST_CASE("async times equal those of the plain engine on 2000 random schedules") {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    SimulationInput input = testing::random_input(random);
    input.schedule = lower(input.schedule).value();
    const ActionTimes expected = time_actions(input).value();
    const ActionTimes times = time_events(input, {}).value();
    REQUIRE(times.start == expected.start);
    REQUIRE(times.end == expected.end);
  }
}

TEST_CASE("stricter semantics are never faster on 500 random schedules") {
  std::mt19937 random(12);
  for (int round = 0; round < 500; ++round) {
    SimulationInput input = testing::random_input(random);
    input.schedule = lower(input.schedule).value();
    const double free = makespan(input, {});
    const double blocking = makespan(input, {.semantics = Semantics::kBlockingReceive});
    const auto rendezvous = time_events(input, {.semantics = Semantics::kRendezvous});
    CHECK(blocking >= free);
    if (rendezvous) CHECK(std::ranges::max_element(rendezvous->end)->value() >= blocking);
  }
}

TEST_CASE("a blocking receive in front of independent work holds it up") {
  // F1 arrives at 4 and F0 at 3: 1F0 could start at 3 but stands behind 1RECV_F1.
  const auto input = unit_input(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1RECV_F1,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n",
      2);
  CHECK(start_of(input, time_events(input, {}).value(), "1F0") == 3);
  const CommunicationModel blocking{.semantics = Semantics::kBlockingReceive};
  CHECK(start_of(input, time_events(input, blocking).value(), "1F0") == 4);
}

TEST_CASE("a rendezvous holds the sender until the receiver is there") {
  // 1F0 runs from 2 to 7; only then does device 1 reach the receive of F1.
  SimulationInput input = unit_input("0F0,0SEND_F0,0F1,0SEND_F1\n1RECV_F0,1F0,1RECV_F1,1F1\n", 1);
  input.stages[1].forward = Seconds{5};
  const ActionTimes times = time_events(input, {.semantics = Semantics::kRendezvous}).value();
  CHECK(start_of(input, times, "1F0") == 2);
  CHECK(start_of(input, times, "0F1") == 2);
  CHECK(start_of(input, times, "1F1") == 8);
}

TEST_CASE("two devices that both send first deadlock under rendezvous only") {
  const auto input = unit_input(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n",
      0);
  CHECK(time_events(input, {}).has_value());
  const auto times = time_events(input, {.semantics = Semantics::kRendezvous});
  REQUIRE_FALSE(times.has_value());
  CHECK(to_string(times.error()) ==
        "device 0 step 3: the schedule waits for itself: 2 devices in a circle\n"
        "  device 0: 0SEND_F1 waits for 1RECV_F1\n"
        "  device 1: 1SEND_B0 waits for 0RECV_B0\n"
        "  fix: reorder one of these actions, or use --communication async");
}

TEST_CASE("a batch of send and receive resolves what a rendezvous cannot") {
  const auto input = unit_input(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n",
      0);
  CHECK(makespan(input, {.semantics = Semantics::kBatched}) == 6);
}

TEST_CASE("a batch waits for all of its messages") {
  // Device 0 sends F1 and receives B0 in one batch: B0 is there at 4, F1 has arrived at 4 as well;
  // with a hop of 1 the batch opens at 2 on device 0 and at 3 on device 1 and closes at 4.
  const auto input = unit_input(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n",
      1);
  const ActionTimes times = time_events(input, {.semantics = Semantics::kBatched}).value();
  CHECK(start_of(input, times, "1F0") == 2);
  CHECK(start_of(input, times, "0B0") == 5);
  CHECK(start_of(input, times, "1F1") == 5);
}

TEST_CASE("on one stream a posted receive holds up a later send") {
  // Device 1 posts RECV_F1 (arrives at 6) before SEND_B0: with one stream B0 leaves only then.
  SimulationInput input = unit_input(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n",
      1);
  input.durations[0] = {Seconds{1}, Seconds{4}, Seconds{1}, Seconds{1}};
  CHECK(start_of(input, time_events(input, {}).value(), "0B0") == 5);
  const ActionTimes one = time_events(input, {.streams = Streams::kShared}).value();
  CHECK(start_of(input, one, "0B0") == 7);
  const ActionTimes two = time_events(input, {.streams = Streams::kPerDirection}).value();
  CHECK(start_of(input, two, "0B0") == 6);  // Moves from 5 on, when device 0 posts its receive.
}

TEST_CASE("messages that share a link share its bandwidth") {
  // F0 and F1 leave at 1 and 2 with 2 B each over 1 B/s: F0 alone for 1 s, then halves.
  const auto input = unit_input("0F0,0SEND_F0,0F1,0SEND_F1\n1RECV_F0,1F0,1RECV_F1,1F1\n", 0);
  CommunicationModel model{.resources = {BytesPerSecond(1)}};
  model.forward_path.assign(2, {.size = Bytes(2), .resources = {0}});
  model.backward_path = model.forward_path;
  const ActionTimes times = time_events(input, model).value();
  CHECK(start_of(input, times, "1F0") == 4);
  CHECK(start_of(input, times, "1F1") == 5);
}

TEST_CASE("compute is slower while a message is in flight") {
  // F1 runs 1 to 3.5: 2 s with the message in flight do 1 s of its work, 1.5 s more the rest.
  SimulationInput input = unit_input("0F0,0SEND_F0,0F1,0SEND_F1\n1RECV_F0,1F0,1RECV_F1,1F1\n", 2);
  input.durations[0] = {Seconds{1}, Seconds(2.5), Seconds{1}, Seconds{1}};
  const ActionTimes times = time_events(input, {.compute_slowdown = 2}).value();
  CHECK(start_of(input, times, "0SEND_F1") == 4.5);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
