#include <string>

#include <doctest/doctest.h>

#include "tests/core/json/documents.h"

namespace headrace {
namespace {

using testing::changed;
using testing::complaint;
using testing::kClusterText;
using testing::kProfileText;
using testing::kTimelineText;

std::string profile_complaint(std::string_view from, std::string_view to) {
  return complaint(profile_from_json(changed(kProfileText, from, to), "p.json"));
}

std::string cluster_complaint(std::string_view from, std::string_view to) {
  return complaint(cluster_from_json(changed(kClusterText, from, to), "c.json"));
}

std::string timeline_complaint(std::string_view from, std::string_view to) {
  return complaint(timeline_from_json(changed(kTimelineText, from, to), "t.json"));
}

TEST_SUITE_BEGIN("core/json/strict_parse");

TEST_CASE("the small documents of these tests are accepted") {
  CHECK(complaint(profile_from_json(kProfileText, "p")) == "accepted");
  CHECK(complaint(cluster_from_json(kClusterText, "c")) == "accepted");
  CHECK(complaint(timeline_from_json(kTimelineText, "t")) == "accepted");
}

TEST_CASE("a syntax error names line and column and what stands before it") {
  CHECK(complaint(model_from_json("{\n  \"a\": nul,\n}", "m.json")) ==
        "m.json:2:11: no JSON: unexpected ',' after '  \\\"a\\\": nul'\n"
        "  fix: repair the JSON syntax there");
  CHECK(complaint(model_from_json("{} x", "m.json")) ==
        "m.json:1:4: no JSON: unexpected 'x' after '{} '\n"
        "  fix: repair the JSON syntax there");
  CHECK(complaint(model_from_json("{\"a\":", "m.json")) ==
        "m.json:1:6: no JSON: the text ends too early\n"
        "  fix: repair the JSON syntax there");
  CHECK(complaint(model_from_json("", "m.json")) ==
        "m.json:1:1: no JSON: the text ends too early\n"
        "  fix: repair the JSON syntax there");
}

TEST_CASE("NaN and Infinity and comments and bad bytes are no JSON") {
  for (const std::string_view value : {"NaN", "Infinity", "-Infinity", "/*c*/1", "'a'", "01", ".5",
                                       "\"\xff\"", "\"\t\"", "\"\\ud800\""}) {
    CAPTURE(value);
    const std::string text = "{\"a\": " + std::string(value) + "}";
    CHECK(complaint(model_from_json(text, "m.json")).find("no JSON: unexpected") !=
          std::string::npos);
  }
}

TEST_CASE("a number beyond double is refused") {
  CHECK(complaint(model_from_json("{\"a\": 1e999}", "m.json")) ==
        "m.json:1:11: number 1e999 is too large\n  fix: write a number below 1.8e308");
}

TEST_CASE("a whole number beyond 64 bits is refused") {
  CHECK(complaint(model_from_json("{\"a\": [0, 9223372036854775808]}", "m.json")) ==
        "m.json: /a/1: whole number 9223372036854775808 does not fit into 64 bits\n"
        "  fix: write a smaller number, or one with a decimal point");
  CHECK(complaint(model_from_json("{\"a\": -99999999999999999999999}", "m.json"))
            .starts_with("m.json: /a: whole number -99999999999999999999999 does not fit"));
}

TEST_CASE("a key that is given twice is refused") {
  CHECK(profile_complaint("\"id\": \"first\"", "\"id\": \"first\", \"id\": \"first\"") ==
        "p.json: /layers/0/id: key 'id' is given twice in one object\n"
        "  fix: keep one of the two");
}

TEST_CASE("nesting beyond 64 levels is refused however deep it goes") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(complaint(model_from_json(nested(64), "m")) ==
        "m: expected an object, found a list\n  fix: write it like {}");
  CHECK(complaint(model_from_json(nested(65), "m")).find("nests deeper than 64 levels") !=
        std::string::npos);
  CHECK(complaint(model_from_json(nested(3'000'000), "m")).find("nests deeper than 64 levels") !=
        std::string::npos);
}

TEST_CASE("text in messages is printable and short") {
  const std::string text = changed(kProfileText, "\"dtype\"", "\"\\u001b[31m/~\\u00e4\"");
  CHECK(complaint(profile_from_json(text, "p"))
            .starts_with("p: /\\u001b[31m~1~0ä: unknown key '\\u001b[31m/~ä'\n"));
  const std::string long_key =
      changed(kProfileText, "\"dtype\"", '"' + std::string(9999, 'k') + '"');
  CHECK(complaint(profile_from_json(long_key, "p")).size() < 400);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/object_reader");

TEST_CASE("an unknown key is refused with the nearest known one") {
  CHECK(cluster_complaint("\"memory_bytes\"", "\"memroy_bytes\"") ==
        "c.json: /devices/0/memroy_bytes: unknown key 'memroy_bytes' "
        "(did you mean 'memory_bytes'?)\n"
        "  fix: remove it; keys of this object: id, kind, node, memory_bytes, speed");
  CHECK(cluster_complaint("\"memory_bytes\"", "\"colour\"") ==
        "c.json: /devices/0/colour: unknown key 'colour'\n"
        "  fix: remove it; keys of this object: id, kind, node, memory_bytes, speed");
}

TEST_CASE("a misspelt required key is told as misspelt and not as missing") {
  CHECK(profile_complaint("\"forward\"", "\"forwrad\"")
            .starts_with(
                "p.json: /layers/0/forwrad: unknown key 'forwrad' (did you mean 'forward'?)\n"));
}

TEST_CASE("a missing key is named") {
  CHECK(profile_complaint("\"backward\": {\"mean_s\": 2}, ", "") ==
        "p.json: /layers/0: key 'backward' is missing\n  fix: add \"backward\" here");
  CHECK(complaint(profile_from_json("{\"schema\": \"headrace/profile/1\"}", "p.json")) ==
        "p.json: key 'model' is missing\n  fix: add \"model\" here");
}

TEST_CASE("a value of the wrong type is shown beside what is expected") {
  CHECK(profile_complaint("{\"mean_s\": 3}", "{\"mean_s\": \"3 ms\"}") ==
        "p.json: /layers/1/forward/mean_s: expected a number of seconds from 0 to 1e12, "
        "found \"3 ms\"\n  fix: write it like 0.0032");
  CHECK(profile_complaint("{\"mean_s\": 3}", "3") ==
        "p.json: /layers/1/forward: expected an object, found 3\n  fix: write it like {}");
  CHECK(profile_complaint("\"fp32\"", "null") ==
        "p.json: /dtype: expected text, found null\n  fix: write it like \"text\"");
  CHECK(profile_complaint("[{\"from\": \"first\", \"to\": \"second\", \"bytes\": 4}]", "{}") ==
        "p.json: /edges: expected a list, found an object\n  fix: write it like []");
  CHECK(profile_complaint("\"id\": \"first\"", "\"id\": \"first\", \"frozen\": 1") ==
        "p.json: /layers/0/frozen: expected true or false, found 1\n  fix: write it like true");
}

TEST_CASE("negative and endless times are refused") {
  CHECK(profile_complaint("{\"mean_s\": 3}", "{\"mean_s\": -0.5}") ==
        "p.json: /layers/1/forward/mean_s: expected a number of seconds from 0 to 1e12, "
        "found -0.5\n  fix: write it like 0.0032");
  CHECK(profile_complaint("{\"mean_s\": 3}", "{\"mean_s\": 1e300}").find("found 1e+300") !=
        std::string::npos);
}

TEST_CASE("bytes are whole and not negative and may be written as 1e9") {
  CHECK(profile_complaint("\"bytes\": 4", "\"bytes\": 1e9") == "accepted");
  CHECK(profile_complaint("\"bytes\": 4", "\"bytes\": 9007199254740992") == "accepted");
  CHECK(profile_complaint("\"bytes\": 4", "\"bytes\": 1.5") ==
        "p.json: /edges/0/bytes: expected a whole number of bytes from 0 to 2^53, found 1.5\n"
        "  fix: write it like 1048576");
  for (const std::string_view value : {"-1", "9007199254740993", "1e16", "true", "\"4\""}) {
    CHECK(profile_complaint("\"bytes\": 4", "\"bytes\": " + std::string(value)) != "accepted");
  }
}

TEST_CASE("counts have limits") {
  CHECK(profile_complaint("\"micro_batch_size\": 4", "\"micro_batch_size\": 0") ==
        "p.json: /micro_batch_size: expected a whole number from 1 to 2147483647, found 0\n"
        "  fix: write it like 1");
  CHECK(timeline_complaint("\"devices\": 2", "\"devices\": 2000000000") ==
        "t.json: /devices: expected a whole number from 0 to 1000000, found 2000000000\n"
        "  fix: write it like 1");
}

TEST_CASE("names of a fixed set are spelt out") {
  CHECK(timeline_complaint("\"measured\"", "\"guessed\"") ==
        "t.json: /source: expected one of predicted, measured, emulated, found \"guessed\"\n"
        "  fix: write it like \"predicted\"");
  CHECK(timeline_complaint("\"0F0\"", "\"F0\"") ==
        "t.json: /events/0/action: expected an action, found \"F0\"\n"
        "  fix: write it like \"2F5\"");
  CHECK(profile_complaint("\"id\": \"first\"", "\"id\": \"first\", \"origin\": \"felt\"") ==
        "p.json: /layers/0/origin: expected one of measured, interpolated, catalogue, assumed, "
        "imported, found \"felt\"\n  fix: write it like \"measured\"");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/document");

TEST_CASE("a document of another kind is told apart") {
  CHECK(complaint(cluster_from_json(kProfileText, "x.json")) ==
        "x.json: /schema: schema 'headrace/profile/1', expected 'headrace/cluster/1'\n"
        "  fix: give a cluster document, this one is a profile");
}

TEST_CASE("a document of another version or without schema is refused") {
  CHECK(profile_complaint("headrace/profile/1", "headrace/profile/2") ==
        "p.json: /schema: schema 'headrace/profile/2', expected 'headrace/profile/1'\n"
        "  fix: this version reads only format 1; use a matching headrace");
  CHECK(profile_complaint("headrace/profile/1", "profile") ==
        "p.json: /schema: schema 'profile', expected 'headrace/profile/1'\n"
        "  fix: write \"schema\": \"headrace/profile/1\"");
  CHECK(profile_complaint("\"schema\": \"headrace/profile/1\",", "") ==
        "p.json: key 'schema' is missing\n  fix: add \"schema\" here");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
