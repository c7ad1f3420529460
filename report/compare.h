// Lays a prediction beside a measurement and says where they differ.
#pragma once

#include "core/comparison.h"
#include "core/result.h"
#include "core/simulation.h"
#include "core/timeline.h"

namespace headrace {

/// Compares one simulated iteration with a measured (or emulated) one of the same schedule shape.
/// A prediction whose timeline has no events is compared by its totals only; one without a formula
/// gets it from its timeline.
/// Fails with kBadInput when stages, devices or micro-batches differ, or nothing was measured.
Result<Comparison> compare(const Simulation& predicted, const Timeline& predicted_timeline,
                           const Timeline& measured);

}  // namespace headrace
