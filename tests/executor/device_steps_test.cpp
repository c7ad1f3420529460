#include "executor/device_steps.h"

#include <set>

#include <doctest/doctest.h>

#include "tests/support/schedule_builders.h"

TEST_SUITE_BEGIN("executor/device_steps");

namespace headrace::testing {
namespace {

std::string text_of(const std::vector<DeviceStep>& steps) {
  std::string text;
  for (const DeviceStep& step : steps) {
    if (step.receive) text += to_string(*step.receive) + " > ";
    text += to_string(step.action);
    if (step.send) text += " > " + to_string(*step.send);
    if (step.hand_over) text += " = " + to_string(*step.hand_over);
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the middle stage receives and sends in both directions") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n2F0,2B0\n");
  CHECK(text_of(*device_steps(schedule, DeviceId{1})) ==
        "1RECV_F0 > 1F0 > 1SEND_F0\n1RECV_B0 > 1B0 > 1SEND_B0\n");
}

TEST_CASE("the first and the last stage have one neighbour") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  CHECK(text_of(*device_steps(schedule, DeviceId{0})) == "0F0 > 0SEND_F0\n0RECV_B0 > 0B0\n");
  CHECK(text_of(*device_steps(schedule, DeviceId{1})) == "1RECV_F0 > 1F0\n1B0 > 1SEND_B0\n");
}

TEST_CASE("input gradients carry the messages and weight gradients none") {
  const Schedule schedule = schedule_of("0F0,0I0,0W0\n1F0,1I0,1W0\n");
  CHECK(text_of(*device_steps(schedule, DeviceId{1})) == "1RECV_F0 > 1F0\n1I0 > 1SEND_B0\n1W0\n");
}

TEST_CASE("neighbour stages on one device hand over without a message") {
  // A V: device 0 has stages 0 and 3, device 1 has 1 and 2.
  const Schedule schedule = schedule_of("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n");
  CHECK(text_of(*device_steps(schedule, DeviceId{1})) ==
        "1RECV_F0 > 1F0 = 1SEND_F0\n2F0 > 2SEND_F0\n2RECV_B0 > 2B0 = 2SEND_B0\n1B0 > 1SEND_B0\n");
}

TEST_CASE("an action before one of the same device that it needs is a deadlock") {
  Schedule schedule = schedule_of("0F0,1F0,1B0,0B0\n");
  std::swap(schedule.rows[0][0], schedule.rows[0][1]);
  const auto steps = device_steps(schedule, DeviceId{0});
  REQUIRE_FALSE(steps.has_value());
  CHECK(steps.error().code == ErrorCode::kDeadlock);
  CHECK(steps.error().what == "1F0 stands before 0F0, which it needs");
}

TEST_CASE("sends and receives written into the row are not done twice") {
  const Schedule schedule = schedule_of("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
  CHECK(device_steps(schedule, DeviceId{0})->size() == 2);
}

TEST_CASE("every message of an iteration has a tag of its own that reads back") {
  constexpr int kMicrobatches = 7;
  std::set<int> tags;
  for (int s = 0; s < 5; ++s) {
    for (int m = 0; m < kMicrobatches; ++m) {
      for (const ActionKind kind : {ActionKind::kRecvForward, ActionKind::kRecvBackward}) {
        const Action receive{.kind = kind, .stage = StageId{s}, .microbatch = MicrobatchId{m}};
        const int tag = message_tag(receive, kMicrobatches);
        CHECK(tag >= kFirstMessageTag);
        CHECK(tags.insert(tag).second);
        CHECK(receive_of_tag(tag, kMicrobatches) == receive);
      }
    }
  }
}

TEST_CASE("a send arrives at its neighbour") {
  CHECK(to_string(received_as(*action_from_text("2SEND_F5"))) == "3RECV_F5");
  CHECK(to_string(received_as(*action_from_text("2SEND_B5"))) == "1RECV_B5");
}

}  // namespace headrace::testing
