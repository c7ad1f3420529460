#include "executor/link_probe.h"

#include <doctest/doctest.h>

#include "executor/rank_threads.h"

TEST_SUITE_BEGIN("executor/link_probe");

namespace headrace::testing {
namespace {

LinkSample sample(std::int64_t size, double time) {
  return {Bytes{size}, Seconds{time}};
}

}  // namespace

TEST_CASE("a line is found exactly") {
  const LinkSpeed link = fit_link(
      std::vector{sample(0, 5e-5), sample(1'000'000, 5e-5 + 1e-3), sample(4'000'000, 5e-5 + 4e-3)});
  CHECK(link.latency.value() == doctest::Approx(5e-5));
  CHECK(link.bandwidth.value() == doctest::Approx(1e9));
}

TEST_CASE("small messages decide the latency although large ones are off") {
  const LinkSpeed link =
      fit_link(std::vector{sample(64, 4e-5), sample(4096, 4.1e-5), sample(4 << 20, 8e-3)});
  CHECK(link.latency.value() == doctest::Approx(4e-5).epsilon(0.1));
}

TEST_CASE("time that does not grow with the size is an infinitely fast link") {
  const LinkSpeed link = fit_link(std::vector{sample(64, 5e-5), sample(1 << 20, 4e-5)});
  CHECK(link.bandwidth == BytesPerSecond{0});
  CHECK(link.latency > Seconds{0});
}

TEST_CASE("a known delay is measured where there is no other") {
  constexpr double kDelay = 0.001;
  constexpr int kOfTheRun = 100;  // The probe's own messages have tags from here on.
  InProcessNetwork network(2,
                           [](int, int, int tag) { return Seconds{tag < kOfTheRun ? 0 : kDelay}; });
  std::vector<LinkSample> samples;
  const auto ran = run_rank_threads(network, 2, [&](Channel& channel) -> Result<DeviceRecord> {
    auto measured = measure_link(channel, Seconds{30}, 3);
    if (!measured) return Failure(measured.error());
    if (channel.rank() == 1) samples = *measured;
    return DeviceRecord{};
  });
  REQUIRE(ran.has_value());
  REQUIRE(samples.size() == 7);
  CHECK(samples.front().size == Bytes{64});
  for (const LinkSample& each : samples) CHECK(each.time.value() >= kDelay);
}

}  // namespace headrace::testing
