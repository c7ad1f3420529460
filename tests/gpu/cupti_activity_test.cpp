// A real GPU, a real driver and a real CUPTI: does a record of real work arrive?
#include <doctest/doctest.h>

#include "profiler/cupti/activity_check.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("gpu/cupti_activity");

TEST_CASE("the GPUs of this machine have names and memory") {
  const auto library = open_cupti();
  REQUIRE_MESSAGE(library.has_value(), to_string(library.error()));
  for (const Gpu& gpu : library->gpus) {
    MESSAGE("GPU ", gpu.index, ": ", gpu.name, ", ", gpu.memory.value(), " bytes");
    CHECK_FALSE(gpu.name.empty());
    CHECK(gpu.memory > Bytes(0));
  }
}

TEST_CASE("the record of a memory fill has its bytes and a plausible time") {
  const auto library = open_cupti();
  REQUIRE_MESSAGE(library.has_value(), to_string(library.error()));
  const Bytes size(std::int64_t{64} << 20);
  const auto activity = record_fill(*library, library->gpus.front(), size);
  REQUIRE_MESSAGE(activity.has_value(), to_string(activity.error()));
  MESSAGE("64 MiB filled in ", activity->duration.value() * 1e6, " us");
  CHECK(activity->size == size);
  CHECK(activity->duration > Seconds(1e-7));  // 64 MiB in 100 ns would be 670 TB/s.
  CHECK(activity->duration < Seconds(1));
}

TEST_CASE("a second fill is recorded after the first") {
  const auto library = open_cupti();
  REQUIRE_MESSAGE(library.has_value(), to_string(library.error()));
  for (const std::int64_t size : {1024, 4096}) {
    const auto activity = record_fill(*library, library->gpus.front(), Bytes(size));
    REQUIRE_MESSAGE(activity.has_value(), to_string(activity.error()));
    CHECK(activity->size == Bytes(size));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
