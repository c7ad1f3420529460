#include "profiler/load_processes.h"

#include <atomic>
#include <csignal>
#include <new>
#include <stdexcept>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/processors.h"

namespace headrace {
namespace {

/// Numbers that parent and children see alike.
struct Shared {
  std::atomic<pid_t> child{0};
  std::atomic<long> turns{0};
};

Shared& shared_memory() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) Shared();
}

std::vector<int> last_processor() {
  return {usable_processors().back()};
}

Result<LoadProcesses> start_turning(Shared& shared) {
  return LoadProcesses::start(last_processor(), [&](const std::function<void()>& ready) {
    shared.child = getpid();
    ready();
    while (true) ++shared.turns;
  });
}

}  // namespace

TEST_SUITE_BEGIN("profiler/load_processes");

TEST_CASE("the load works while it exists and is gone afterwards") {
  Shared& shared = shared_memory();
  {
    const auto load = start_turning(shared);
    REQUIRE(load.has_value());
    const long before = shared.turns;
    while (shared.turns == before) sched_yield();
    CHECK(load->still_running().has_value());
    CHECK(kill(shared.child, 0) == 0);
  }
  CHECK(kill(shared.child, 0) == -1);
}

TEST_CASE("a load that ended is found out") {
  Shared& shared = shared_memory();
  const auto load = start_turning(shared);
  REQUIRE(load.has_value());
  kill(shared.child, SIGKILL);
  while (load->still_running().has_value()) sched_yield();
  CHECK(load->still_running().error().what == "a load process ended during the measurement");
}

TEST_CASE("a load that can't start is an error with the core's number") {
  const auto load = LoadProcesses::start(last_processor(), [](const std::function<void()>&) {
    throw std::runtime_error("no memory");
  });
  REQUIRE_FALSE(load.has_value());
  CHECK(load.error().code == ErrorCode::kUnavailable);
  CHECK(load.error().where == "--load");
}

TEST_CASE("no other core means no child") {
  CHECK(LoadProcesses::start({}, [](const std::function<void()>&) {})->still_running().has_value());
}

TEST_SUITE_END();

}  // namespace headrace
