// The errors of requests that have no plan, with the arithmetic and the ways out.
#pragma once

#include "planner/chain_problem.h"

namespace headrace {

Error fewer_layers_than_stages(int layers, int stages);
Error fewer_devices_than_stages(int devices, int stages);

/// No cut of the problem fits in memory: by how much it fails at best, on which stage, what that
/// stage holds, and which of recomputation, smaller micro-batches, more stages and larger devices
/// can help. `problem` is the profile's on this cluster.
Error does_not_fit(const ChainProblem& problem, const Profile& profile, const PlanRequest& request);

}  // namespace headrace
