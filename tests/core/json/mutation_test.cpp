#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "tests/support/random_nouns.h"

namespace headrace {
namespace {

using testing::NounMaker;

/// Pieces that upset readers more than random bytes do.
constexpr std::array<std::string_view, 22> kPieces = {"{",       "}",
                                                      "[",       "]",
                                                      ",",       ":",
                                                      "\"",      "null",
                                                      "true",    "-1",
                                                      "1e999",   "NaN",
                                                      "1e18",    "-0.0",
                                                      "0.5",     "99999999",
                                                      "\\u0000", "\"id\":0,",
                                                      "[[[[",    "\xff",
                                                      "\n",      "18446744073709551615"};

/// Damages `text` in one place: bytes, pieces, cuts, and lines (one key or bracket) moved about.
std::string mutated(std::string text, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  const std::size_t at = below(text.size());
  const std::size_t line = text.rfind('\n', at) + 1;
  const std::size_t line_end = std::min(text.find('\n', at), text.size() - 1);
  switch (below(7)) {
    case 0:
      text[at] = static_cast<char>(below(256));
      break;
    case 1:
      text.insert(at, kPieces[below(kPieces.size())]);
      break;
    case 2:
      text.erase(at, 1 + below(20));
      break;
    case 3:
      text.resize(at);
      break;
    case 4:
      text.erase(line, line_end + 1 - line);
      break;
    case 5:
      text.insert(line, text.substr(line, line_end + 1 - line));
      break;
    default: {  // A whole value replaced: "key": piece.
      const std::size_t colon = text.find(": ", at);
      if (colon == std::string::npos) break;
      const std::size_t end = text.find_first_of(",\n", colon);
      text.replace(colon + 2, end - colon - 2, kPieces[below(kPieces.size())]);
    }
  }
  return text;
}

struct Tally {
  int accepted = 0;
  int refused = 0;
};

template <typename Noun, typename Read>
void try_mutants(const std::string& text, const Read& read, std::mt19937_64& random, Tally& tally) {
  for (int i = 0; i < 1000; ++i) {
    const std::string mutant = mutated(text, random);
    CAPTURE(mutant);
    const Result<Noun> result = read(mutant, "file.json");
    if (result.has_value()) {
      ++tally.accepted;
      const Result<Noun> again = read(to_json(*result), "again");
      REQUIRE_MESSAGE(again.has_value(), to_string(again.error()));
      continue;
    }
    ++tally.refused;
    const Error& error = result.error();
    REQUIRE(error.code == ErrorCode::kBadInput);
    REQUIRE_FALSE(error.what.empty());
    REQUIRE_FALSE(error.fix.empty());
    REQUIRE(error.where.starts_with("file.json"));
  }
}

TEST_SUITE_BEGIN("core/json/strict_parse");

TEST_CASE("a damaged document is read or refused with a full message") {
  std::mt19937_64 random(20261201);
  Tally tally;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    NounMaker maker(seed, seed == 0);
    try_mutants<Profile>(to_json(maker.profile()), profile_from_json, random, tally);
    try_mutants<Cluster>(to_json(maker.cluster()), cluster_from_json, random, tally);
    try_mutants<Plan>(to_json(maker.plan()), plan_from_json, random, tally);
    try_mutants<Simulation>(to_json(maker.simulation()), simulation_from_json, random, tally);
    try_mutants<Timeline>(to_json(maker.timeline()), timeline_from_json, random, tally);
    try_mutants<Comparison>(to_json(maker.comparison()), comparison_from_json, random, tally);
    try_mutants<ModelSpec>(to_json(maker.model()), model_from_json, random, tally);
    try_mutants<Error>(to_json(maker.error()), error_from_json, random, tally);
  }
  CHECK(tally.refused > 8000);
  CHECK(tally.accepted > 500);
}

TEST_CASE("damaged foreign configurations are read or refused") {
  std::mt19937_64 random(7);
  const std::string text = to_json(NounMaker(3, true).plan());
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto config = foreign_config_from_json(mutated(text, random), "c.json");
    if (!config.has_value()) ++refused;
    if (!config.has_value()) REQUIRE(config.error().code == ErrorCode::kBadInput);
  }
  CHECK(refused > 500);
  CHECK(refused < 2000);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
