// A prediction from whatever document holds one.
#pragma once

#include <string>

#include "core/result.h"
#include "simulator/simulate.h"

namespace headrace::cli {

/// A plan is simulated anew with its own schedule; a timeline is accounted for; a simulation gives
/// its totals and no stages (its timeline is empty). Fails with kBadInput on other documents.
Result<SimulationOutcome> read_prediction(const std::string& path);

}  // namespace headrace::cli
