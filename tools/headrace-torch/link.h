// The hop between two processes of this host, measured as a run would see it.
#pragma once

#include <string>

#include "core/profile.h"
#include "core/result.h"

namespace headrace::worker {

/// Starts two processes, pinned to two of our cores, that send each other messages while they
/// compute. Takes some seconds. `scratch_file` is written and removed. Fails as `run_workers`.
Result<LinkSpeed> measured_link(const std::string& scratch_file);

}  // namespace headrace::worker
