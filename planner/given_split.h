// A cut that the caller decides: so many layers on each stage.
#pragma once

#include <span>

#include "core/plan.h"
#include "core/result.h"
#include "planner/chain_probe.h"
#include "planner/plan_builder.h"

namespace headrace {

/// Borders of stages with these numbers of layers. Fails with kUsage unless there is one count of
/// at least 1 for each stage and they add up to `layers`.
Result<Borders> borders_of_counts(std::span<const int> counts, int stages, int layers);

/// Fails with kInfeasible, naming the first stage that needs more memory than its device has.
Result<void> check_given_fits(const Plan& plan, const PlanBuilder& builder);

}  // namespace headrace
