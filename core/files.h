// Whole files in, whole files out.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace headrace {

/// The whole content of `path`; "-" is standard input. Fails with kBadInput on a missing or
/// unreadable file, a directory, or more than `limit` bytes.
Result<std::string> read_text(const std::string& path, std::size_t limit = std::size_t{1} << 30);

/// Writes `content` so that `path` appears whole or not at all (temporary file beside it, fsync,
/// rename); "-" is standard output. Missing folders are not made. An existing device file or pipe
/// is written in place. Fails with kBadInput.
Result<void> write_text(const std::string& path, std::string_view content);

}  // namespace headrace
