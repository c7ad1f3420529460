#include "interop/importers.h"

#include <array>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "core/text.h"
#include "interop/pipedream.h"

namespace headrace {
namespace {

struct Importer {
  std::string_view kind;
  Result<Profile> (*read)(std::string_view text, std::string_view source);
};

// DAPPLE writes PipeDream's format, only less evenly: one reader accepts both.
constexpr std::array kImporters = {Importer{"pipedream", profile_from_pipedream},
                                   Importer{"dapple", profile_from_pipedream}};

constexpr auto kNames = [] {
  std::array<std::string_view, kImporters.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kImporters[i].kind;
  return names;
}();

}  // namespace

Result<Profile> import_profile(std::string_view kind, std::string_view text,
                               std::string_view source) {
  for (const Importer& importer : kImporters) {
    if (importer.kind == kind) return importer.read(text, source);
  }
  return Failure(
      {.code = ErrorCode::kUsage,
       .what = fmt::format("unknown kind of file '{}'{}", kind, did_you_mean(kind, kNames)),
       .where = "KIND",
       .fix = fmt::format("use one of: {}", fmt::join(kNames, ", "))});
}

std::span<const std::string_view> importer_names() {
  return kNames;
}

}  // namespace headrace
