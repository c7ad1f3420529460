// Text to JSON values, refusing whatever two readers could understand differently.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/result.h"

namespace headrace {

/// Parses RFC 8259 text. Fails with kBadInput on a syntax error, a number that overflows
/// ("profile.json:12:5"), a duplicate key, a whole number beyond 64 bits or more than 64 levels of
/// nesting ("profile.json: /layers/3"). Never recurses.
Result<nlohmann::json> parse_strictly(std::string_view text, std::string_view source);

/// `text` made safe for a message: control characters escaped, bytes that are no UTF-8 replaced,
/// cut after `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 60);

/// "profile.json: /layers/3", or "profile.json" where the pointer is empty.
std::string place_text(std::string_view source, std::string_view pointer);

/// `token` as one step of a JSON pointer: "/" in front, "~" and "/" escaped.
std::string pointer_step(std::string_view token);

}  // namespace headrace
