// A real GPU, a real driver and a real CUPTI: does a record of real work arrive?
#include <utility>

#include <doctest/doctest.h>

#include "profiler/cupti/activity_check.h"

namespace headrace {
namespace {

/// This machine's GPUs; a case that finds none has failed.
CuptiLibrary opened() {
  auto library = open_cupti();
  REQUIRE_MESSAGE(library.has_value(), to_string(library.error()));
  return *std::move(library);
}

FillActivity recorded(const CuptiLibrary& library, Bytes size) {
  const auto activity = record_fill(library, library.gpus.front(), size);
  REQUIRE_MESSAGE(activity.has_value(), to_string(activity.error()));
  return *activity;
}

TEST_SUITE_BEGIN("gpu/cupti_activity");

TEST_CASE("the GPUs of this machine have names and memory") {
  for (const Gpu& gpu : opened().gpus) {
    MESSAGE("GPU ", gpu.index, ": ", gpu.name, ", ", gpu.memory.value(), " bytes");
    CHECK_FALSE(gpu.name.empty());
    CHECK(gpu.memory > Bytes(0));
  }
}

TEST_CASE("the record of a memory fill has its bytes and a plausible time") {
  const Bytes size(std::int64_t{64} << 20);
  const FillActivity activity = recorded(opened(), size);
  MESSAGE("64 MiB filled in ", activity.duration.value() * 1e6, " us");
  CHECK(activity.size == size);
  CHECK(activity.duration > Seconds(1e-7));  // 64 MiB in 100 ns would be 670 TB/s.
  CHECK(activity.duration < Seconds(1));
}

TEST_CASE("a second fill is recorded after the first") {
  const CuptiLibrary library = opened();
  CHECK(recorded(library, Bytes(1024)).size == Bytes(1024));
  CHECK(recorded(library, Bytes(4096)).size == Bytes(4096));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
