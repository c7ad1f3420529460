#include "core/text.h"

#include <array>

#include <doctest/doctest.h>

namespace headrace {
namespace {

TEST_SUITE_BEGIN("core/text");

TEST_CASE("a slip of at most a third of the word finds its neighbour") {
  constexpr std::array<std::string_view, 3> kWords = {"stages", "devices", "schedule"};
  CHECK(closest_match("stagse", kWords) == "stages");
  CHECK(closest_match("STAGES", kWords) == "stages");
  CHECK(closest_match("shedule", kWords) == "schedule");
  CHECK_FALSE(closest_match("stgse", kWords).has_value());
  CHECK_FALSE(closest_match("banana", kWords).has_value());
  CHECK_FALSE(closest_match("", kWords).has_value());
  CHECK_FALSE(closest_match("word", {}).has_value());
}

TEST_CASE("of equally near candidates the first is taken") {
  constexpr std::array<std::string_view, 2> kWords = {"cat", "bat"};
  CHECK(closest_match("hat", kWords) == "cat");
}

TEST_CASE("a very long word is no slip and costs nothing") {
  const std::string word(10'000'000, 'a');
  const std::array<std::string_view, 1> words = {word};
  CHECK_FALSE(closest_match(word, words).has_value());
}

TEST_CASE("did you mean is ready to append") {
  constexpr std::array<std::string_view, 1> kWords = {"seq"};
  CHECK(did_you_mean("seqq", kWords) == " (did you mean 'seq'?)");
  CHECK(did_you_mean("other", kWords).empty());
}

TEST_CASE("times are read with their unit") {
  CHECK(seconds_from_text("3.2ms", "--hop")->value() == doctest::Approx(3.2e-3));
  CHECK(seconds_from_text("5us", "--hop")->value() == doctest::Approx(5e-6));
  CHECK(seconds_from_text("7 ns", "--hop")->value() == doctest::Approx(7e-9));
  CHECK(seconds_from_text("1.5s", "--hop")->value() == 1.5);
  CHECK(seconds_from_text("2min", "--hop")->value() == 120);
  CHECK(seconds_from_text("0s", "--hop")->value() == 0);
}

TEST_CASE("a bare number is a usage error that names the units") {
  const auto time = seconds_from_text("5", "--latency");
  REQUIRE_FALSE(time.has_value());
  CHECK(time.error().code == ErrorCode::kUsage);
  CHECK(to_string(time.error()) ==
        "--latency: '5' has no unit\n  fix: write it like 3.2ms; units: s, ms, us, ns, min, h");
}

TEST_CASE("what is no quantity is refused for its reason") {
  const auto problem = [](std::string_view text) {
    const auto time = seconds_from_text(text, "--hop");
    return time.has_value() ? "accepted" : time.error().what;
  };
  CHECK(problem("-1ms") == "'-1ms' is negative");
  CHECK(problem("3 parsecs") == "'3 parsecs' has the unknown unit 'parsecs'");
  CHECK(problem("ms") == "'ms' is no number with a unit");
  CHECK(problem("") == "'' is no number with a unit");
  CHECK(problem("nans") == "'nans' is no number with a unit");
  CHECK(problem("inf s") == "'inf s' is no number with a unit");
  CHECK(problem("1e999s") == "'1e999s' is no number with a unit");
  CHECK(problem("2e12s") == "'2e12s' is more than 1e12 s");
  CHECK(problem("1e308min") == "'1e308min' is too large");
  CHECK(problem("1ms2") == "'1ms2' has the unknown unit 'ms2'");
}

TEST_CASE("sizes know powers of 1000 and of 1024") {
  CHECK(bytes_from_text("80GiB", "--memory") == Bytes(80LL << 30));
  CHECK(bytes_from_text("1.5GB", "--memory") == Bytes(1'500'000'000));
  CHECK(bytes_from_text("4096B", "--memory") == Bytes(4096));
  CHECK(bytes_from_text("12MiB", "--memory") == Bytes(12 << 20));
  CHECK(bytes_from_text("9e6TB", "--memory") == Bytes(9'000'000'000'000'000'000));
  CHECK_FALSE(bytes_from_text("9.3e6TB", "--memory").has_value());
  CHECK_FALSE(bytes_from_text("80", "--memory").has_value());
}

TEST_CASE("bandwidths know bits and bytes and are positive") {
  CHECK(bandwidth_from_text("25GB/s", "--bandwidth")->value() == doctest::Approx(25e9));
  CHECK(bandwidth_from_text("25Gbit/s", "--bandwidth")->value() == doctest::Approx(3.125e9));
  CHECK(bandwidth_from_text("12.5GiB/s", "--bandwidth")->value() ==
        doctest::Approx(12.5 * 1024 * 1024 * 1024));
  CHECK(bandwidth_from_text("0GB/s", "--bandwidth").error().what == "'0GB/s' is not positive");
}

TEST_CASE("numbers for people have three digits and the fitting unit") {
  CHECK(to_text(Seconds(3.2e-3)) == "3.20 ms");
  CHECK(to_text(Seconds(0)) == "0 s");
  CHECK(to_text(Seconds(0.9996)) == "1.00 s");
  CHECK(to_text(Seconds(999.4e-6)) == "999 us");
  CHECK(to_text(Seconds(-0.0125)) == "-12.5 ms");
  CHECK(to_text(Seconds(2e-12)) == "0.00 ns");
  CHECK(to_text(Bytes(1023)) == "1023 B");
  CHECK(to_text(Bytes(80LL << 30)) == "80.0 GiB");
  CHECK(to_text(BytesPerSecond(25e9)) == "25.0 GB/s");
}

TEST_CASE("three digits stay three digits after rounding") {
  CHECK(to_text(Seconds(9.996)) == "10.0 s");
  CHECK(to_text(Seconds(99.96e-3)) == "100 ms");
}

TEST_CASE("percentages have one decimal") {
  CHECK(percent_text(0.125) == "12.5 %");
  CHECK(percent_text(0) == "0.0 %");
  CHECK(signed_percent_text(0.012) == "+1.2 %");
  CHECK(signed_percent_text(-0.012) == "-1.2 %");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
