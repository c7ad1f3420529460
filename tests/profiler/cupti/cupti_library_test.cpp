// Which machine counts as one that can measure GPUs, shown with fabricated drivers.
#include "profiler/cupti/cupti_library.h"

#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/fake_gpu.h"

namespace headrace {
namespace {

using testing::FakeGpu;

Result<CuptiLibrary> inspect_fake() {
  return inspect_gpus(testing::fake_driver(), testing::fake_cupti());
}

/// The error of a machine that must not be usable; empty when it was.
Error refusal_of(const Result<CuptiLibrary>& library) {
  return library ? Error{} : library.error();
}

TEST_SUITE_BEGIN("profiler/cupti/cupti_library");

TEST_CASE("a driver with a GPU and a fitting CUPTI is usable") {
  FakeGpu::reset().count = 2;
  const auto library = inspect_fake();
  REQUIRE(library.has_value());
  CHECK(library->driver_version == 13000);
  CHECK(library->cupti_version == CUPTI_API_VERSION);
  CHECK(library->gpus == std::vector<Gpu>{{0, "Fabricated GPU", Bytes(std::int64_t{80} << 30)},
                                          {1, "Fabricated GPU", Bytes(std::int64_t{80} << 30)}});
}

TEST_CASE("collecting is tried and switched off again") {
  FakeGpu::reset();
  REQUIRE(inspect_fake().has_value());
  CHECK(FakeGpu::instance().asked == std::vector<std::string>{"enable", "disable"});
}

TEST_CASE("a driver without a GPU is unavailable") {
  FakeGpu::reset().init = CUDA_ERROR_NO_DEVICE;
  const Error by_status = refusal_of(inspect_fake());
  FakeGpu::reset().count = 0;
  const Error by_count = refusal_of(inspect_fake());
  CHECK(exit_status(by_status.code) == 7);
  CHECK(by_status.what == "the NVIDIA driver sees no GPU");
  CHECK(by_status.fix ==
        "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu, or import a profile");
  CHECK(by_count.what == by_status.what);
}

TEST_CASE("a driver that does not start is named with its own words") {
  FakeGpu::reset().init = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
  CHECK(refusal_of(inspect_fake()).what ==
        "the NVIDIA driver does not start: error 803 (fabricated)");
}

TEST_CASE("status 999 of CUPTI means that there is no driver") {
  FakeGpu::reset().enable = CUPTI_ERROR_UNKNOWN;
  const Error error = refusal_of(inspect_fake());
  CHECK(error.code == ErrorCode::kUnavailable);
  CHECK(error.what == "CUPTI finds no NVIDIA driver: error 999 (fabricated)");
}

TEST_CASE("another refusal of CUPTI is passed on") {
  FakeGpu::reset().enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  CHECK(refusal_of(inspect_fake()).what ==
        "CUPTI refuses to collect activities: error 35 (fabricated)");
}

TEST_CASE("a CUPTI of another release is refused with both versions") {
  FakeGpu::reset().cupti_version = 28;
  const auto library = inspect_gpus(testing::fake_driver(), testing::fake_cupti(), 130001);
  CHECK(refusal_of(library).what == "CUPTI is version 28, this program was built for 130001");
}

TEST_CASE("updates of one release share the layout of records") {
  CHECK(same_release(130000, 130001));
  CHECK(same_release(28, 28));
  CHECK_FALSE(same_release(130100, 130001));
  CHECK_FALSE(same_release(27, 28));
  CHECK_FALSE(same_release(28, 130000));
}

TEST_CASE("the installed CUPTI fits the headers and needs a driver to collect") {
  FakeGpu::reset();
  const auto cupti = load_cupti();
  if (!cupti) {
    CHECK(cupti.error().what == "no CUPTI: libcupti.so.13 is not found");
    return;
  }
  const auto library = inspect_gpus(testing::fake_driver(), *cupti);
  if (!std::filesystem::exists("/dev/nvidia0"))
    CHECK(refusal_of(library).what.rfind("CUPTI finds no NVIDIA driver: error 999", 0) == 0);
}

TEST_CASE("this machine answers without crashing") {
  const auto library = open_cupti();
  if (library) {
    CHECK_FALSE(library->gpus.empty());
    return;
  }
  CHECK(exit_status(library.error().code) == 7);
  CHECK_FALSE(library.error().fix.empty());
  if (!std::filesystem::exists("/dev/nvidia0"))
    CHECK(library.error().what == "no NVIDIA driver: libcuda.so.1 is not on this machine");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
