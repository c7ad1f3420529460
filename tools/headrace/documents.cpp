#include "tools/headrace/documents.h"

#include <algorithm>
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

namespace {

/// Of the plan's micro-batch size there is the plan's own profile, and others only of devices that
/// differ from its device.
Result<void> check_profiles_of(const Plan& plan, const std::vector<Profile>& profiles,
                               const std::vector<std::string>& files) {
  if (plan.inputs.profile_fingerprint.empty()) return {};
  const auto own =
      std::ranges::find(profiles, plan.inputs.profile_fingerprint, &Profile::fingerprint);
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles[i];
    if (profile.micro_batch_size != plan.micro_batch_size) continue;
    if (profile.fingerprint == plan.inputs.profile_fingerprint) continue;
    const bool other_device = own != profiles.end() && (profile.device.kind != own->device.kind ||
                                                        profile.device.name != own->device.name);
    if (other_device) continue;
    return Failure({.code = ErrorCode::kBadInput,
                    .what = fmt::format("{} is not the profile that the plan was made from: its "
                                        "fingerprint differs",
                                        files[i]),
                    .where = "--profile",
                    .fix = "give the plan's profile, or plan anew with this one"});
  }
  return {};
}

}  // namespace

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
    profiles.push_back(*std::move(profile));
  }
  if (auto ok = check_profiles_of(plan, profiles, files); !ok) return Failure(ok.error());
  return profiles;
}

}  // namespace headrace::cli
