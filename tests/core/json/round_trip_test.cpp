#include <cstdint>

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "tests/support/random_nouns.h"

namespace headrace {
namespace {

using testing::NounMaker;

constexpr int kSeeds = 400;

/// Writes, reads and writes again; `read` and `make` belong to one noun.
template <typename Noun, typename Make, typename Read>
void check_round_trips(const Make& make, const Read& read) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    NounMaker maker(static_cast<std::uint64_t>(seed), seed == 0);
    const Noun noun = make(maker);
    const std::string text = to_json(noun);
    const Result<Noun> back = read(text, "file");
    REQUIRE_MESSAGE(back.has_value(), to_string(back.error()) << "\n" << text);
    REQUIRE(*back == noun);
    REQUIRE(to_json(*back) == text);
  }
}

TEST_SUITE_BEGIN("core/json/documents");

TEST_CASE("profiles read back equal") {
  check_round_trips<Profile>([](NounMaker& m) { return m.profile(); }, profile_from_json);
}

TEST_CASE("clusters read back equal") {
  check_round_trips<Cluster>([](NounMaker& m) { return m.cluster(); }, cluster_from_json);
}

TEST_CASE("plans read back equal") {
  check_round_trips<Plan>([](NounMaker& m) { return m.plan(); }, plan_from_json);
}

TEST_CASE("simulations read back equal") {
  check_round_trips<Simulation>([](NounMaker& m) { return m.simulation(); }, simulation_from_json);
}

TEST_CASE("timelines read back equal") {
  check_round_trips<Timeline>([](NounMaker& m) { return m.timeline(); }, timeline_from_json);
}

TEST_CASE("comparisons read back equal") {
  check_round_trips<Comparison>([](NounMaker& m) { return m.comparison(); }, comparison_from_json);
}

TEST_CASE("what-if tables read back equal") {
  check_round_trips<WhatIf>([](NounMaker& m) { return m.what_if(); }, what_if_from_json);
}

TEST_CASE("models read back equal") {
  check_round_trips<ModelSpec>([](NounMaker& m) { return m.model(); }, model_from_json);
}

TEST_CASE("errors read back equal") {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Error error = NounMaker(static_cast<std::uint64_t>(seed)).error();
    const auto back = error_from_json(to_json(error), "file");
    REQUIRE(back.has_value());
    CHECK(back->code == error.code);
    CHECK(to_string(*back) == to_string(error));
  }
}

TEST_CASE("a plan keeps its prediction without the devices") {
  Plan plan = NounMaker(7, true).plan();
  REQUIRE(plan.predicted.has_value());
  const std::string text = to_json(plan);
  plan.predicted->per_device.resize(3);
  CHECK(to_json(plan) == text);
}

TEST_CASE("bytes that are no text become replacement characters") {
  const auto back =
      model_from_json(to_json(ModelSpec{.family = "a\xff", .name = "", .values = {}}), "file");
  REQUIRE(back.has_value());
  CHECK(back->family == "a\xEF\xBF\xBD");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
