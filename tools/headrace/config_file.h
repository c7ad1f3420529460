// A configuration file: the flags of a command, written down.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "tools/headrace/flags.h"

namespace headrace::cli {

/// Reads JSON (a file that starts with a brace), else TOML or INI; "-" is standard input.
/// Settings may stand in sections named after commands. Fails with kBadInput.
Result<std::vector<Setting>> read_settings(const std::string& path);

}  // namespace headrace::cli
