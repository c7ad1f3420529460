// SHA-256, for fingerprints and input hashes that anyone can check with sha256sum.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// 64 lower-case hex digits.
std::string sha256_hex(std::string_view data);

}  // namespace headrace
