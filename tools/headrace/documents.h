// Reading the documents that commands take, by their path.
#pragma once

#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"

namespace headrace::cli {

/// A text together with the name that messages give it.
struct SourceText {
  std::string text;
  std::string source;
};

/// "-" is standard input. All fail with kBadInput.
Result<SourceText> read_source(const std::string& path);
Result<Profile> read_profile(const std::string& path);
Result<Cluster> read_cluster(const std::string& path);
Result<Plan> read_plan(const std::string& path);

/// The profiles in `files`, or where there are none the one that the plan names: where it was, or
/// beside the plan. Fails with kBadInput on a profile of the plan's micro-batch size with another
/// fingerprint.
Result<std::vector<Profile>> profiles_of_plan(const Plan& plan, const std::string& plan_file,
                                              std::vector<std::string> files);

}  // namespace headrace::cli
