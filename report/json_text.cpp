#include "report/json_text.h"

#include <cstddef>

#include <fmt/core.h>

namespace headrace {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Length of the UTF-8 sequence that starts at `i`; 0 when there is no valid one.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const unsigned char first = byte_at(text, i);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte_at(text, i + k) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte_at(text, i + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : length;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    const unsigned char c = byte_at(text, i);
    if (length == 0) {
      quoted += '?';
    } else if (c == '"' || c == '\\') {
      quoted += {'\\', text[i]};
    } else if (c < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return quoted + '"';
}

}  // namespace headrace
