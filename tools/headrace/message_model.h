// What a simulation assumes beyond stage times: how messages behave, how times scatter.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "simulator/simulate.h"
#include "tools/headrace/flags.h"

namespace headrace::cli {

struct SimulationChoice {
  std::string communication = "async";
  std::string streams = "unlimited";
  std::optional<int> replicas;  ///< Absent: no band.
  std::optional<int> seed;
};

/// Declares --communication, --streams, --replicas and --seed.
void add_simulation_flags(Flags& flags, SimulationChoice& choice);

/// Simulates under the chosen model; with replicas the report has a 90 % band. Fails like
/// `simulate` and `iteration_band`, and with kUsage on --seed without --replicas.
Result<SimulationOutcome> simulate_chosen(SimulationInput input, const SimulationChoice& choice);

}  // namespace headrace::cli
