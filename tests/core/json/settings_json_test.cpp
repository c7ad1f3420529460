#include "core/json/settings_json.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/core/json/documents.h"

namespace headrace {
namespace {

using testing::complaint;

TEST_SUITE_BEGIN("core/json/settings_json");

TEST_CASE("settings become names and the text of their values") {
  const auto settings = settings_from_json(
      R"({"json": true, "plan": {"devices": 4, "schedule": ["1f1b", "gpipe"]}, "seed": "7"})",
      "headrace.json");
  REQUIRE(settings.has_value());
  CHECK(*settings == std::vector<Setting>{{"json", {"true"}},
                                          {"plan.devices", {"4"}},
                                          {"plan.schedule", {"1f1b", "gpipe"}},
                                          {"seed", {"7"}}});
}

TEST_CASE("what no command line could hold is refused") {
  CHECK(complaint(settings_from_json(R"({"plan": {"devices": null}})", "c.json")) ==
        "c.json: /plan/devices: a setting cannot be null\n"
        "  fix: give a text, a number, true or false, or a list of these");
  CHECK(complaint(settings_from_json(R"({"plan": {"a": {"b": 1}}})", "c.json"))
            .starts_with("c.json: /plan/a: a setting cannot be object\n"));
  CHECK(complaint(settings_from_json(R"({"a": [1, [2]]})", "c.json"))
            .starts_with("c.json: /a/1: a setting cannot be array\n"));
  CHECK(complaint(settings_from_json("[]", "c.json"))
            .starts_with("c.json: a setting cannot be array\n"));
  CHECK(complaint(settings_from_json(R"({"a": 1, "a": 2})", "c.json"))
            .starts_with("c.json: /a: key 'a' is given twice in one object\n"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
