// Reading the documents that commands take, by their path.
#pragma once

#include <string>

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

}  // namespace headrace::cli
