// Other tools' files by kind: what `headrace import KIND FILE` can read.
#pragma once

#include <span>
#include <string_view>

#include "core/profile.h"
#include "core/result.h"

namespace headrace {

/// Reads `text` as the format that `kind` names; `source` is the file's name for messages. The
/// fingerprint stays empty. Fails with kUsage on an unknown kind (with "did you mean") and as the
/// reader of the kind does.
Result<Profile> import_profile(std::string_view kind, std::string_view text,
                               std::string_view source);

/// The kinds, in the order `--help` lists them.
std::span<const std::string_view> importer_names();

}  // namespace headrace
