#include "core/schedule_messages.h"

#include <string>

#include <doctest/doctest.h>

#include "core/files.h"
#include "core/schedule_csv.h"

namespace headrace {
namespace {

/// Reads the rows, which must be valid but for their messages.
std::string problem(std::string_view rows) {
  const auto schedule = schedule_from_csv(rows, "s");
  return schedule.has_value() ? "valid" : schedule.error().where + ": " + schedule.error().what;
}

TEST_SUITE_BEGIN("core/schedule_messages");

TEST_CASE("a schedule with every message in order is valid") {
  CHECK(problem("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") == "valid");
  CHECK(problem("0F0,0SEND_F0,0RECV_B0,0I0,0W0\n1RECV_F0,1F0,1I0,1SEND_B0,1W0\n") == "valid");
  CHECK(problem("0F0,0SEND_F0\n1RECV_F0,1F0\n") == "valid");
}

TEST_CASE("a message that is missing is named with the action that needs it") {
  CHECK(problem("0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "s: rank 0 step 0: 0F0 has no 0SEND_F0");
  CHECK(problem("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n") ==
        "s: rank 1 step 0: 1F0 has no 1RECV_F0");
  CHECK(problem("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0\n") ==
        "s: rank 1 step 2: 1B0 has no 1SEND_B0");
  CHECK(problem("0F0,0SEND_F0,0I0,0W0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "s: rank 0 step 2: 0I0 has no 0RECV_B0");
}

TEST_CASE("a message stands behind what makes it and before what needs it") {
  CHECK(problem("0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "s: rank 0 step 0: 0SEND_F0 comes before 0F0");
  CHECK(problem("0F0,0SEND_F0,0B0,0RECV_B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "s: rank 0 step 3: 0RECV_B0 comes behind 0B0");
}

TEST_CASE("a message that runs twice or has no other end is refused") {
  CHECK(problem("0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "s: rank 0 step 2: 0SEND_F0 runs twice");
  CHECK(problem("0F0,0SEND_F0,1F0,1B0,0B0\n") ==
        "s: rank 0 step 1: 0SEND_F0 has no other device at its end");
  CHECK(problem("0RECV_F0,0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "s: rank 0 step 0: 0RECV_F0 has no other device at its end");
  CHECK(problem("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1SEND_F0,1B0,1SEND_B0\n") ==
        "s: rank 1 step 2: 1SEND_F0 has no other device at its end");
}

TEST_CASE("losing any message of a lowered schedule is noticed") {
  const auto text = read_text(std::string(HEADRACE_SOURCE_DIR) +
                              "/tests/data/schedules/pytorch/DualPipeV_p2_m4_v2.comms.csv");
  REQUIRE(text.has_value());
  const Schedule whole = schedule_from_csv(*text, "s").value();
  for (std::size_t rank = 0; rank < whole.rows.size(); ++rank) {
    for (std::size_t step = 0; step < whole.rows[rank].size(); ++step) {
      const ActionKind kind = whole.rows[rank][step].kind;
      if (kind < ActionKind::kSendForward || kind > ActionKind::kRecvBackward) continue;
      Schedule damaged = whole;
      damaged.rows[rank].erase(damaged.rows[rank].begin() + static_cast<std::ptrdiff_t>(step));
      CHECK_FALSE(validate_messages(damaged).has_value());
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
