#include "tools/headrace/documents.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "core/files.h"
#include "core/json/documents.h"

namespace headrace::cli {
namespace {

template <typename Noun>
Result<Noun> read_document(const std::string& path,
                           Result<Noun> (*read)(std::string_view, std::string_view)) {
  const auto source = read_source(path);
  if (!source) return Failure(source.error());
  return read(source->text, source->source);
}

}  // namespace

Result<SourceText> read_source(const std::string& path) {
  auto text = read_text(path);
  if (!text) return Failure(text.error());
  return SourceText{*std::move(text), path == "-" ? "standard input" : path};
}

Result<Profile> read_profile(const std::string& path) {
  return read_document(path, profile_from_json);
}
Result<Cluster> read_cluster(const std::string& path) {
  return read_document(path, cluster_from_json);
}
Result<Plan> read_plan(const std::string& path) {
  return read_document(path, plan_from_json);
}

Result<std::vector<Profile>> profiles_of_plan(const Plan& plan, const std::string& plan_file,
                                              std::vector<std::string> files) {
  if (files.empty() && !plan.inputs.profile_file.empty() && plan.inputs.profile_file != "-") {
    const std::filesystem::path named = plan.inputs.profile_file;
    const auto beside = std::filesystem::path(plan_file).parent_path() / named.filename();
    std::error_code ignored;
    for (const std::filesystem::path& candidate : {named, beside}) {
      if (!std::filesystem::exists(candidate, ignored)) continue;
      files.push_back(candidate.string());
      break;
    }
  }
  std::vector<Profile> profiles;
  for (const std::string& file : files) {
    auto profile = read_profile(file);
    if (!profile) return Failure(profile.error());
    const bool same_size = profile->micro_batch_size == plan.micro_batch_size;
    if (same_size && !plan.inputs.profile_fingerprint.empty() &&
        profile->fingerprint != plan.inputs.profile_fingerprint) {
      return Failure({.code = ErrorCode::kBadInput,
                      .what = fmt::format("{} is not the profile that the plan was made from: its "
                                          "fingerprint differs",
                                          file),
                      .where = "--profile",
                      .fix = "give the plan's profile, or plan anew with this one"});
    }
    profiles.push_back(*std::move(profile));
  }
  return profiles;
}

}  // namespace headrace::cli
