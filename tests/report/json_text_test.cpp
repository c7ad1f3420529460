#include "report/json_text.h"

#include <random>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace headrace;

TEST_SUITE_BEGIN("report/json_text");

TEST_CASE("quotes and backslashes and control characters are escaped") {
  CHECK(json_string("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
}

TEST_CASE("bytes that are no UTF-8 become question marks") {
  CHECK(json_string("\xff\xc0\xafx") == "\"???x\"");
  CHECK(json_string("\xed\xa0\x80") == "\"???\"");  // a surrogate
  CHECK(json_string("\xc3\xa4") == "\"\xc3\xa4\"");
}

TEST_CASE("any bytes make valid JSON") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = static_cast<char>(random());
    INFO(round);
    REQUIRE(nlohmann::json::accept(json_string(text)));
  }
}
