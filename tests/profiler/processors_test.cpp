#include "profiler/processors.h"

#include <algorithm>
#include <thread>

#include <doctest/doctest.h>
#include <sched.h>

namespace headrace {

TEST_SUITE_BEGIN("profiler/processors");

TEST_CASE("the processor's name is read from the first entry") {
  CHECK(processor_name_in("processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t: fpu\n"
                          "model name\t: other\n") == "AMD EPYC 7B13");
  CHECK(processor_name_in("processor : 0\n") == "unknown processor");
  CHECK(processor_name_in("model name\t: ") == "unknown processor");
}

TEST_CASE("a pinned thread runs on its core alone") {
  const int last = usable_processors().back();
  std::vector<int> seen;
  std::thread([&] {
    REQUIRE(pin_to(last).has_value());
    seen = usable_processors();
  }).join();
  CHECK(seen == std::vector<int>{last});
}

TEST_CASE("a core that is not there is an error with the core's number") {
  const auto pinned = pin_to(CPU_SETSIZE - 1);
  REQUIRE_FALSE(pinned.has_value());
  CHECK(pinned.error().code == ErrorCode::kUnavailable);
  CHECK(pinned.error().what.find("core 1023") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace headrace
