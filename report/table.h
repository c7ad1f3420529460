// Rows of cells as aligned columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace headrace {

using TableRow = std::vector<std::string>;

/// `rows` (the first is the heading) as lines, two blanks between columns: the first
/// `left_columns` are aligned to the left, the others to the right. Rows may differ in length.
/// Every line starts with `indent` blanks and none ends with one. Control characters, which a
/// name from a file could bring, are shown as '?'.
std::string table_text(std::span<const TableRow> rows, int left_columns = 1, int indent = 2);

/// "+1.20 ms", "-3.00 us"; what is no time at all is "+0 s".
std::string signed_time_text(Seconds time);

/// `text` with every control character replaced by '?'.
std::string terminal_text(std::string_view text);

}  // namespace headrace
