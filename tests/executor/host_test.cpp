#include "executor/host.h"

#include <thread>

#include <doctest/doctest.h>
#include <sched.h>

TEST_SUITE_BEGIN("executor/host");

namespace headrace::testing {

TEST_CASE("the allowed cores are sorted and there is at least one") {
  const auto cores = allowed_cores();
  REQUIRE_FALSE(cores.empty());
  CHECK(std::is_sorted(cores.begin(), cores.end()));
}

TEST_CASE("pinning holds the calling thread and no other") {
  const auto before = allowed_cores();
  std::thread([core = before.back()] {
    REQUIRE(pin_this_thread(core).has_value());
    CHECK(allowed_cores() == std::vector<int>{core});
    CHECK(::sched_getcpu() == core);
  }).join();
  CHECK(allowed_cores() == before);
}

TEST_CASE("a core that does not exist is unavailable") {
  const auto pinned = pin_this_thread(1000);
  REQUIRE_FALSE(pinned.has_value());
  CHECK(pinned.error().code == ErrorCode::kUnavailable);
}

TEST_CASE("a free port can be had again and again") {
  for (int i = 0; i < 20; ++i) {
    const auto port = free_port();
    REQUIRE(port.has_value());
    CHECK(*port > 1023);
    CHECK(*port < 65536);
  }
}

}  // namespace headrace::testing
