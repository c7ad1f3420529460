// Reading the record of one memory fill, from fabricated buffers.
#include "profiler/cupti/activity_check.h"

#include <doctest/doctest.h>

#include "tests/support/fake_gpu.h"

namespace headrace {
namespace {

using testing::FakeGpu;

const Gpu kGpu{0, "Fabricated GPU", Bytes(std::int64_t{80} << 30)};

Result<FillActivity> record_fake_fill() {
  const CuptiLibrary library{.driver = testing::fake_driver(), .cupti = testing::fake_cupti()};
  return record_fill(library, kGpu, Bytes(4096));
}

CUpti_ActivityMemset4 fill_record(std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.bytes = 4096;
  record.start = start;
  record.end = end;
  return record;
}

TEST_SUITE_BEGIN("profiler/cupti/activity_check");

TEST_CASE("the duration of a fill is its record's end minus start") {
  FakeGpu::reset().records = {fill_record(1000, 3500)};
  const auto activity = record_fake_fill();
  REQUIRE(activity.has_value());
  CHECK(activity->size == Bytes(4096));
  CHECK(activity->duration.value() == doctest::Approx(2.5e-6));
}

TEST_CASE("records are asked for while the context still exists") {
  FakeGpu::reset().records = {fill_record(1000, 3500)};
  REQUIRE(record_fake_fill().has_value());
  CHECK(FakeGpu::instance().asked ==
        std::vector<std::string>{"enable", "retain", "fill", "flush", "release", "disable"});
}

TEST_CASE("other kinds of record are passed over") {
  auto copy = fill_record(1, 2);
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  FakeGpu::reset().records = {fill_record(1000, 3500), copy};
  const auto activity = record_fake_fill();
  REQUIRE(activity.has_value());
  CHECK(activity->duration.value() == doctest::Approx(2.5e-6));
}

TEST_CASE("a record without times is no measurement") {
  FakeGpu::reset().records = {fill_record(0, 0)};
  const auto activity = record_fake_fill();
  REQUIRE_FALSE(activity.has_value());
  CHECK(activity.error().what == "CUPTI delivered no record of a memory fill");
}

TEST_CASE("a failed allocation is named and the context is given back") {
  FakeGpu::reset().allocate = CUDA_ERROR_OUT_OF_MEMORY;
  const auto activity = record_fake_fill();
  REQUIRE_FALSE(activity.has_value());
  CHECK(activity.error().what == "cuMemAlloc failed with 2");
  CHECK(FakeGpu::instance().asked ==
        std::vector<std::string>{"enable", "retain", "flush", "release", "disable"});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
