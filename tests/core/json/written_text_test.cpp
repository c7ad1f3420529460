#include <limits>

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "core/sha256.h"
#include "core/version.h"
#include "tests/core/json/documents.h"
#include "tests/support/random_nouns.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("core/json/documents");

TEST_CASE("a document starts with schema and tool and ends with a newline") {
  const std::string text = to_json(uniform_cluster(1, std::nullopt, {}));
  CHECK(text == R"({
  "schema": "headrace/cluster/1",
  "tool": {
    "name": "headrace",
    "version": ")" + std::string(kVersion) +
                    R"("
  },
  "devices": [
    {
      "id": "device0",
      "node": "node0",
      "speed": 1.0
    }
  ],
  "links": [],
  "default_links": {
    "intra_node": {
      "latency_s": 0.0,
      "bandwidth_bytes_per_s": 0.0
    },
    "inter_node": {
      "latency_s": 0.0,
      "bandwidth_bytes_per_s": 0.0
    }
  }
}
)");
}

TEST_CASE("an error document names code and exit status and the cycle of a deadlock") {
  const std::string text = to_json(Error{.code = ErrorCode::kDeadlock,
                                         .what = "2 actions wait for each other",
                                         .where = "schedule.csv",
                                         .fix = "swap them",
                                         .why = "F needs B",
                                         .cycle = {{1, "1F0", "0F0"}}});
  CHECK(text.find(R"(  "error": {
    "code": "deadlock",
    "exit": 6,
    "what": "2 actions wait for each other",
    "where": "schedule.csv",
    "why": "F needs B",
    "fix": "swap them",
    "cycle": [
      {
        "device": 1,
        "action": "1F0",
        "waits_for": "0F0"
      }
    ]
  }
)") != std::string::npos);
}

TEST_CASE("a number that is not finite is written as null and not read back") {
  Comparison comparison;
  comparison.relative_error = std::numeric_limits<double>::quiet_NaN();
  const std::string text = to_json(comparison);
  CHECK(text.find("\"relative_error\": null") != std::string::npos);
  CHECK(testing::complaint(comparison_from_json(text, "c.json")) ==
        "c.json: /relative_error: expected a number, found null\n  fix: write it like 0.5");
}

TEST_CASE("a fingerprint follows every number but not itself nor the file names") {
  const Profile profile = testing::NounMaker(3, true).profile();
  Profile same = profile;
  same.fingerprint = "another";
  same.model.source = "elsewhere.json";
  CHECK(fingerprint_of(same) == fingerprint_of(profile));
  CHECK(fingerprint_of(profile).size() == 64);
  Profile other = profile;
  other.micro_batch_size += 1;
  CHECK(fingerprint_of(other) != fingerprint_of(profile));
  std::vector<Layer> layers(profile.graph.layers().begin(), profile.graph.layers().end());
  layers[1].forward.mean += Seconds(1e-9);
  other = profile;
  other.graph =
      *ModelGraph::build(layers, {profile.graph.edges().begin(), profile.graph.edges().end()});
  CHECK(fingerprint_of(other) != fingerprint_of(profile));
}

TEST_CASE("the schema id tells files apart") {
  CHECK(schema_id_of(testing::kProfileText, "p.json").value() == "headrace/profile/1");
  CHECK(testing::complaint(schema_id_of("{}", "p.json")) ==
        "p.json: no document of headrace: it has no \"schema\" text\n"
        "  fix: give a file that headrace wrote, or add its \"schema\"");
  CHECK(testing::complaint(schema_id_of("[1]", "p.json")).starts_with("p.json: no document"));
}

TEST_CASE("every schema carries the id of its documents") {
  const auto names = schema_names();
  CHECK(names == std::vector<std::string_view>{"profile", "cluster", "plan", "simulation",
                                               "timeline", "comparison", "model", "error",
                                               "whatif"});
  for (const std::string_view name : names) {
    const auto text = schema_text(name);
    REQUIRE(text.has_value());
    CHECK(text->find("\"const\": \"headrace/" + std::string(name) + "/1\"") != std::string::npos);
  }
}

TEST_CASE("an unknown schema name is answered with the nearest") {
  const auto text = schema_text("plans");
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().code == ErrorCode::kUsage);
  CHECK(to_string(text.error()) ==
        "schema: no schema 'plans' (did you mean 'plan'?)\n"
        "  fix: use one of profile, cluster, plan, simulation, timeline, comparison, model, error, "
        "whatif");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
