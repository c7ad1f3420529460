#include "core/schedule.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"

namespace headrace {
namespace {

Action action(std::string_view text) {
  const auto found = action_from_text(text);
  REQUIRE_MESSAGE(found.has_value(), text);
  return *found;
}

/// One list of actions per device; stage s stands on device s modulo the devices.
Schedule schedule_of(int stages, int microbatches,
                     const std::vector<std::vector<std::string_view>>& rows) {
  Schedule schedule{.name = "test",
                    .stages = stages,
                    .devices = static_cast<int>(rows.size()),
                    .microbatches = microbatches,
                    .device_of_stage = {},
                    .rows = {}};
  for (int s = 0; s < stages; ++s) {
    schedule.device_of_stage.push_back(DeviceId{s % schedule.devices});
  }
  for (const auto& row : rows) {
    auto& actions = schedule.rows.emplace_back();
    for (const std::string_view text : row) actions.push_back(action(text));
  }
  return schedule;
}

std::string problem(const Schedule& schedule) {
  const auto valid = validate(schedule);
  return valid.has_value() ? "valid" : to_string(valid.error());
}

TEST_SUITE_BEGIN("core/schedule");

TEST_CASE("actions read and write as text") {
  for (const std::string_view text :
       {"2F5", "0B0", "13I7", "1W1", "0SEND_F3", "1RECV_F0", "1SEND_B2", "0RECV_B2", "3UNSHARD",
        "0RESHARD", "1REDUCE_GRAD", "2147483647F2147483647"}) {
    CHECK(to_string(action(text)) == text);
  }
  CHECK(action("2F5") == Action{.stage = StageId{2}, .microbatch = MicrobatchId{5}});
}

TEST_CASE("what is no whole action is none") {
  for (const std::string_view text :
       {"", "F0", "0F", "0X1", "2F0x", "2F0 ", " 2F0", "-1F0", "0F-1", "+0F0", "0f0", "0FF0",
        "0UNSHARD3", "0SEND_F", "99999999999F0", "0F99999999999", "0", "F",
        "(0F0;1B0)OVERLAP_F_B"}) {
    CAPTURE(text);
    CHECK_FALSE(action_from_text(text).has_value());
  }
}

TEST_CASE("complete schedules with B and with I and W and without backward are valid") {
  CHECK(problem(schedule_of(2, 1, {{"0F0", "0B0"}, {"1F0", "1B0"}})) == "valid");
  CHECK(problem(schedule_of(2, 1, {{"0F0", "0I0", "0W0"}, {"1F0", "1B0"}})) == "valid");
  CHECK(problem(schedule_of(2, 2, {{"0F0", "0F1"}, {"1F1", "1F0"}})) == "valid");
  CHECK(problem(schedule_of(2, 1, {{"0UNSHARD", "0F0", "0B0", "0REDUCE_GRAD"}, {"1F0", "1B0"}})) ==
        "valid");
}

TEST_CASE("a backward before its forward is refused with rank and step") {
  CHECK(problem(schedule_of(2, 1, {{"0F0", "0B0"}, {"1B0", "1F0"}})) ==
        "rank 1 step 0: 1B0 comes before its forward\n"
        "  fix: move it behind the F of its micro-batch");
}

TEST_CASE("a weight gradient before its input gradient is refused") {
  CHECK(problem(schedule_of(1, 1, {{"0F0", "0W0", "0I0"}})) ==
        "rank 0 step 1: 0W0 comes before its I\n  fix: move it behind its I");
}

TEST_CASE("what runs twice is refused") {
  const auto twice = [](std::vector<std::string_view> row) {
    const std::string text = problem(schedule_of(1, 1, {std::move(row)}));
    return text.substr(0, text.find('\n'));
  };
  CHECK(twice({"0F0", "0F0", "0B0"}) == "rank 0 step 1: 0F0 runs twice");
  CHECK(twice({"0F0", "0B0", "0B0"}) == "rank 0 step 2: 0B0 follows a backward of its micro-batch");
  CHECK(twice({"0F0", "0B0", "0I0"}) == "rank 0 step 2: 0I0 follows a backward of its micro-batch");
  CHECK(twice({"0F0", "0B0", "0W0"}) == "rank 0 step 2: 0W0 follows a backward of its micro-batch");
  CHECK(twice({"0F0", "0I0", "0W0", "0W0"}) ==
        "rank 0 step 3: 0W0 follows a backward of its micro-batch");
  CHECK(twice({"0F0", "0I0", "0B0"}) == "rank 0 step 2: 0B0 follows a backward of its micro-batch");
}

TEST_CASE("what is missing is named with its rank") {
  CHECK(problem(schedule_of(2, 2, {{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "1B0", "1B1"}})) ==
        "rank 1 step 2: 1B1 comes before its forward\n"
        "  fix: move it behind the F of its micro-batch");
  CHECK(problem(schedule_of(2, 1, {{"0F0", "0B0"}, {}})).starts_with("rank 1: 1F0 is missing\n"));
  CHECK(problem(schedule_of(1, 2, {{"0F0", "0B0", "0F1"}})) ==
        "rank 0: 0B1 (or 0I1 and 0W1) is missing\n"
        "  fix: every stage runs every micro-batch exactly once");
  CHECK(problem(schedule_of(1, 1, {{"0F0", "0I0"}})).starts_with("rank 0: 0W0 is missing\n"));
}

TEST_CASE("a stage stands on one rank") {
  CHECK(problem(schedule_of(2, 1, {{"0F0", "0B0", "1F0"}, {"1B0"}}))
            .starts_with("rank 0 step 2: 1F0: stage 1 is on two ranks, also on rank 1\n"));
}

TEST_CASE("numbers outside the counts are refused") {
  CHECK(problem(schedule_of(1, 1, {{"0F0", "0B0", "1F0"}}))
            .starts_with("rank 0 step 2: 1F0 names a stage that does not exist (S = 1)\n"));
  CHECK(problem(schedule_of(1, 1, {{"0F0", "0B0", "0F1"}}))
            .starts_with("rank 0 step 2: 0F1 names a micro-batch that does not exist (M = 1)\n"));
}

TEST_CASE("shapes that contradict themselves are refused") {
  CHECK(problem({}).starts_with("schedule: 0 stages, 0 devices, 0 micro-batches\n"));
  Schedule schedule = schedule_of(1, 1, {{"0F0", "0B0"}});
  schedule.rows.emplace_back();
  CHECK(problem(schedule).starts_with("schedule: rows or the stage placement do not match"));
}

TEST_CASE("a stage on a device that does not exist is refused") {
  Schedule schedule = schedule_of(2, 1, {{"0F0", "0B0"}, {"1F0", "1B0"}});
  schedule.device_of_stage[1] = DeviceId{2};
  CHECK(problem(schedule) ==
        "schedule: stage 1 is on device 2, there are 2\n  fix: use devices 0 to P - 1");
}

TEST_CASE("an overlap is two compute actions") {
  Schedule schedule = schedule_of(2, 1, {{"0F0", "1F0", "1B0", "0B0"}});
  schedule.rows[0][1].overlaps_next = true;
  CHECK(problem(schedule) == "valid");
  schedule.rows[0][0].overlaps_next = true;
  CHECK(problem(schedule).starts_with("rank 0 step 0: an overlap needs exactly two compute"));
  schedule.rows[0][0].overlaps_next = false;
  schedule.rows[0][3].overlaps_next = true;
  CHECK(problem(schedule).starts_with("rank 0 step 3: an overlap needs exactly two compute"));
}

TEST_CASE("activations are held from F to B or W") {
  CHECK(peak_in_flight(schedule_of(1, 3, {{"0F0", "0F1", "0B0", "0F2", "0B1", "0B2"}})) ==
        std::vector<int>{2});
  CHECK(peak_in_flight(schedule_of(1, 2, {{"0F0", "0I0", "0F1", "0W0", "0I1", "0W1"}})) ==
        std::vector<int>{2});
  CHECK(peak_in_flight(schedule_of(2, 2, {{"0F0", "1F0", "1F1", "1B1", "1B0", "0F1"}})) ==
        std::vector<int>{2, 2});
}

TEST_CASE("a schedule tells what it contains") {
  const Schedule plain = schedule_of(1, 1, {{"0F0", "0B0"}});
  const Schedule split = schedule_of(1, 1, {{"0F0", "0I0", "0W0", "0REDUCE_GRAD"}});
  CHECK_FALSE(has_communication(plain));
  CHECK_FALSE(splits_backward(plain));
  CHECK(has_communication(split));
  CHECK(splits_backward(split));
}

TEST_CASE("the largest holdings of a device are all combinations that may be its peak") {
  // Stages 0 and 3 on device 0: 2 of stage 0 first, then 1 and 1, then 2 of stage 3.
  const Schedule schedule =
      schedule_from_csv("0F0,0F1,3F0,0B0,3F1,3B0,3B1,0B1\n1F0,1F1,2F0,2B0,1B0,2F1,2B1,1B1\n",
                        "test")
          .value();
  const auto holdings = largest_holdings(schedule);
  CHECK(holdings[0] == std::vector<std::vector<int>>{{1, 2}, {2, 1}});
  CHECK(holdings[1] == std::vector<std::vector<int>>{{2, 1}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
