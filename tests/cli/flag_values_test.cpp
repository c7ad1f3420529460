#include "tools/headrace/flag_values.h"

#include <doctest/doctest.h>

#include "tests/support/builders.h"

using namespace headrace;
using namespace headrace::cli;
using headrace::testing::seconds;

TEST_SUITE_BEGIN("cli/flag_values");

namespace {

std::string message(const Result<void>& result) {
  return result ? std::string("no error") : to_string(result.error());
}

}  // namespace

TEST_CASE("the last unit of a list is that of every part without one") {
  std::vector<Seconds> times;
  CHECK(times_into(times)("1, 2,3ms", "--forward").has_value());
  CHECK(times == seconds({1e-3, 2e-3, 3e-3}));
  CHECK(times_into(times)("1s,2,500us", "--forward").has_value());
  CHECK(times == seconds({1, 2e-6, 500e-6}));
}

TEST_CASE("a list without any unit names the units") {
  std::vector<Seconds> times;
  CHECK(message(times_into(times)("1,2,3", "--forward")) ==
        "--forward: '1' has no unit\n  fix: write it like 3.2ms; units: s, ms, us, ns, min, h");
}

TEST_CASE("empty and broken parts of a list are errors") {
  std::vector<Seconds> times;
  for (const char* const text : {"", ",", "1ms,", ",1ms", "1ms,,2ms", "ms", "-1ms", "nanms"}) {
    INFO(text);
    CHECK(!times_into(times)(text, "--forward").has_value());
  }
}

TEST_CASE("one value serves all stages and any other count must be the stages'") {
  CHECK(per_stage(seconds({2}), 3, "--forward").value() == seconds({2, 2, 2}));
  CHECK(per_stage(seconds({1, 2, 3}), 3, "--forward").value() == seconds({1, 2, 3}));
  const auto refused = per_stage(seconds({1, 2}), 3, "--forward");
  REQUIRE(!refused);
  CHECK(to_string(refused.error()) ==
        "--forward: 2 values for 3 stages\n"
        "  fix: give 1 value for all stages or 3, one per stage");
}

TEST_CASE("counts are whole numbers of a least size") {
  std::optional<int> count;
  CHECK(count_into(count)("12", "--stages").has_value());
  CHECK(count == 12);
  CHECK(message(count_into(count)("0", "--stages")) ==
        "--stages: 0 is too small\n  fix: give at least 1");
  for (const char* const text : {"", "1.5", "x", "1x", "99999999999", "0x10", " 1"}) {
    INFO(text);
    CHECK(!count_into(count)(text, "--stages").has_value());
  }
  CHECK(count == 12);
}

TEST_CASE("shares are percents or fractions from nothing to all") {
  std::optional<double> share;
  CHECK(fraction_into(share)("8%", "--tolerance").has_value());
  CHECK(share == doctest::Approx(0.08));
  CHECK(fraction_into(share)("0.5", "--tolerance").has_value());
  CHECK(share == doctest::Approx(0.5));
  for (const char* const text : {"", "%", "8", "101%", "-1%", "nan", "1e9"}) {
    INFO(text);
    CHECK(!fraction_into(share)(text, "--tolerance").has_value());
  }
}

TEST_CASE("names are told from near misses") {
  std::string name;
  const auto read = choice_into(name, {"iteration-time", "bottleneck"});
  CHECK(message(read("bottlneck", "--objective")) ==
        "--objective: unknown value 'bottlneck' (did you mean 'bottleneck'?)\n"
        "  fix: use one of iteration-time, bottleneck");
  CHECK(read("bottleneck", "--objective").has_value());
  CHECK(name == "bottleneck");
}

TEST_CASE("activations are units or bytes and never both") {
  std::optional<ActivationList> activation;
  CHECK(activations_into(activation)("4", "--activation").has_value());
  CHECK(std::get<std::vector<double>>(*activation) == std::vector<double>{4});
  CHECK(activations_into(activation)("1,2GB", "--activation").has_value());
  CHECK(std::get<std::vector<Bytes>>(*activation) ==
        std::vector<Bytes>{Bytes{1'000'000'000}, Bytes{2'000'000'000}});
  CHECK(!activations_into(activation)("1GB,2", "--activation").has_value());
}
