// Strings and numbers as JSON text, for the small documents that are written without a reader.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// `text` in quotes, with the escapes that JSON asks for; bytes that are no UTF-8 become '?'.
std::string json_string(std::string_view text);

}  // namespace headrace
