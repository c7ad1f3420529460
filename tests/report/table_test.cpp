#include "report/table.h"

#include <vector>

#include <doctest/doctest.h>

using namespace headrace;

TEST_SUITE_BEGIN("report/table");

TEST_CASE("numbers are aligned to the right and names to the left") {
  const std::vector<TableRow> rows = {{"name", "ms"}, {"a", "1.00"}, {"longer", "12.0"}};
  CHECK(table_text(rows) ==
        "  name      ms\n"
        "  a       1.00\n"
        "  longer  12.0\n");
}

TEST_CASE("rows may be shorter than the heading and no line ends with a blank") {
  const std::vector<TableRow> rows = {{"a", "b", "c"}, {"x"}, {"", "", "z"}};
  CHECK(table_text(rows, 1, 0) ==
        "a  b  c\n"
        "x\n"
        "      z\n");
}

TEST_CASE("a letter of several bytes takes one column") {
  const std::vector<TableRow> rows = {{"\xc3\xa4", "1"}, {"a", "2"}};
  CHECK(table_text(rows, 1, 0) == "\xc3\xa4  1\na  2\n");
}

TEST_CASE("control characters of a name do not reach the terminal") {
  const std::vector<TableRow> rows = {{"\x1b[2Jred\n", "1"}};
  CHECK(table_text(rows, 1, 0) == "?[2Jred?  1\n");
}
