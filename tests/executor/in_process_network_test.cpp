#include "executor/in_process_network.h"

#include <array>
#include <chrono>

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("executor/in_process_network");

namespace headrace::testing {
namespace {

using namespace std::chrono_literals;

std::span<std::byte> bytes_of(int& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

RunClock::time_point soon() {
  return RunClock::now() + 10s;
}

}  // namespace

TEST_CASE("messages of one tag arrive in the order sent whatever order they are waited for in") {
  InProcessNetwork network(2);
  const auto from = network.channel(0);
  const auto to = network.channel(1);
  int first = 1;
  int second = 2;
  REQUIRE(from->post_send({1, 7}, bytes_of(first)).has_value());
  REQUIRE(from->post_send({1, 7}, bytes_of(second)).has_value());
  std::array<int, 2> got{};
  const auto a = to->post_receive({0, 7}, bytes_of(got[0]));
  const auto b = to->post_receive({0, 7}, bytes_of(got[1]));
  CHECK(*to->wait(*b, soon()));
  CHECK(*to->wait(*a, soon()));
  CHECK(got == std::array<int, 2>{1, 2});
}

TEST_CASE("tags are independent") {
  InProcessNetwork network(2);
  const auto from = network.channel(0);
  const auto to = network.channel(1);
  int eight = 8;
  int nine = 9;
  REQUIRE(from->post_send({1, 8}, bytes_of(eight)).has_value());
  REQUIRE(from->post_send({1, 9}, bytes_of(nine)).has_value());
  int got = 0;
  CHECK(*to->wait(*to->post_receive({0, 9}, bytes_of(got)), soon()));
  CHECK(got == 9);
}

TEST_CASE("a message that was not sent is given up at the deadline") {
  InProcessNetwork network(2);
  const auto to = network.channel(1);
  int got = 0;
  const auto ticket = to->post_receive({0, 1}, bytes_of(got));
  const auto through = to->wait(*ticket, RunClock::now() + 20ms);
  REQUIRE(through.has_value());
  CHECK_FALSE(*through);
}

TEST_CASE("a delayed message does not arrive early") {
  InProcessNetwork network(2, [](int, int, int tag) { return Seconds{tag == 1 ? 0.05 : 0}; });
  const auto from = network.channel(0);
  const auto to = network.channel(1);
  int value = 3;
  int got = 0;
  const auto sent_at = RunClock::now();
  REQUIRE(from->post_send({1, 1}, bytes_of(value)).has_value());
  CHECK(*to->wait(*to->post_receive({0, 1}, bytes_of(got)), soon()));
  CHECK(RunClock::now() - sent_at >= 50ms);
  CHECK(got == 3);
}

TEST_CASE("a delay beyond the deadline is a message that did not come") {
  InProcessNetwork network(2, [](int, int, int) { return Seconds{5}; });
  int value = 3;
  int got = 0;
  REQUIRE(network.channel(0)->post_send({1, 1}, bytes_of(value)).has_value());
  const auto to = network.channel(1);
  CHECK_FALSE(*to->wait(*to->post_receive({0, 1}, bytes_of(got)), RunClock::now() + 10ms));
  CHECK(got == 0);
}

TEST_CASE("what a rank sent before it left still arrives and then it is gone") {
  InProcessNetwork network(2);
  int value = 3;
  int got = 0;
  REQUIRE(network.channel(0)->post_send({1, 1}, bytes_of(value)).has_value());
  network.close(0);
  const auto to = network.channel(1);
  CHECK(*to->wait(*to->post_receive({0, 1}, bytes_of(got)), soon()));
  CHECK(got == 3);
  const auto gone = to->wait(*to->post_receive({0, 1}, bytes_of(got)), soon());
  REQUIRE_FALSE(gone.has_value());
  CHECK(gone.error().code == ErrorCode::kTimeout);
  CHECK(gone.error().what == "rank 0 closed its connection");
}

}  // namespace headrace::testing
