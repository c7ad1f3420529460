#include "report/table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/text.h"

namespace headrace {
namespace {

/// Columns on a terminal, one for every code point of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<std::size_t> column_widths(std::span<const TableRow> rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  return widths;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(
      clean, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return clean;
}

std::string signed_time_text(Seconds time) {
  const std::string size = to_text(Seconds(std::abs(time.value())));
  return (time.value() < 0 && size != "0 s" ? "-" : "+") + size;
}

std::string table_text(std::span<const TableRow> rows, int left_columns, int indent) {
  const std::vector<std::size_t> widths = column_widths(rows);
  std::string text;
  for (const TableRow& row : rows) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = terminal_text(row[i]);
      const std::string padding(widths[i] - width_of(cell), ' ');
      if (i > 0) line += "  ";
      line += i < static_cast<std::size_t>(left_columns) ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace headrace
