#include "simulator/lowering.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/message_map.h"
#include "simulator/schedule_catalogue.h"

namespace headrace {
namespace {

Schedule csv(const std::string& text) {
  return schedule_from_csv(text, "test.csv").value();
}

Schedule compute_only(Schedule schedule) {
  for (auto& row : schedule.rows) {
    std::erase_if(row, [](const Action& action) { return !is_compute(action.kind); });
  }
  return schedule;
}

TEST_SUITE_BEGIN("simulator/lowering");

TEST_CASE("a send is followed at once by its receive on the other rank") {
  const auto lowered = lower(csv("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"));
  CHECK(to_csv(lowered.value()) ==
        "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
        "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n");
}

TEST_CASE("a deferred receive stands right before the action that needs it") {
  const auto lowered = lower(csv("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"), {.defer_receives = true});
  CHECK(to_csv(lowered.value()) ==
        "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
        "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
}

TEST_CASE("stages of one device exchange no message") {
  CHECK(to_csv(lower(csv("0F0,1F0,1B0,0B0\n")).value()) == "0F0,1F0,1B0,0B0\n");
}

TEST_CASE("rows that wait for one another cannot be lowered") {
  const auto lowered = lower(csv("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n"));
  REQUIRE_FALSE(lowered.has_value());
  CHECK(lowered.error().code == ErrorCode::kDeadlock);
  CHECK(lowered.error().cycle == std::vector<BlockedAction>{{0, "0B0", "1B0"}, {1, "1F1", "0F1"}});
}

TEST_CASE("lowered orders equal those of PyTorch") {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::string(HEADRACE_SOURCE_DIR) +
                                                              "/tests/data/schedules/lowered")) {
    if (file.path().extension() != ".csv") continue;
    std::ifstream stream(file.path());
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    const Schedule theirs = csv(text);
    const auto ours = lower(compute_only(theirs), {.shard_actions = true});
    CHECK_MESSAGE(to_csv(ours.value()) == to_csv(theirs), file.path().filename().string());
    ++files;
  }
  CHECK(files == 44);
}

TEST_CASE("every message of every schedule is sent once and received once") {
  for (const std::string_view name : schedule_names()) {
    const int v = default_virtual_stages(name);
    const auto schedule = make_schedule(
        {.name = std::string(name), .devices = 4, .stages = 4 * v, .microbatches = 8});
    const Schedule lowered = lower(schedule.value()).value();
    const MessageMap map(lowered);
    std::vector<int> sends(map.size());
    std::vector<int> receives(map.size());
    for (const auto& row : lowered.rows) {
      for (const Action& action : row) {
        if (is_send(action.kind)) ++sends[static_cast<std::size_t>(map.moved_by(action))];
        if (is_receive(action.kind)) ++receives[static_cast<std::size_t>(map.moved_by(action))];
      }
    }
    CHECK(sends == receives);
    CHECK(*std::ranges::max_element(sends) == 1);
    CHECK(compute_only(lowered).rows == schedule->rows);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
