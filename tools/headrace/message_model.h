// What a simulation assumes beyond stage times: messages, overlap, scatter, failures.
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "simulator/simulate.h"
#include "simulator/uncertainty.h"
#include "tools/headrace/flags.h"

namespace headrace::cli {

struct SimulationChoice {
  std::string communication = "async";
  std::string streams = "unlimited";
  bool contention = false;
  std::optional<double> slowdown;       ///< Of compute while its device communicates.
  std::optional<double> overlap_share;  ///< Of F + B that an overlapped pair takes.
  bool recompute = false;
  std::optional<BytesPerSecond> offload;  ///< To host memory; absent: activations stay.
  std::optional<int> replicas;            ///< Absent: no band.
  std::optional<int> seed;
  Slowdown straggler;
  Slowdown slow_link;
  std::optional<Seconds> time_between_failures;
  std::optional<Seconds> checkpoint_interval;
  std::optional<Seconds> checkpoint_cost;
  std::optional<Seconds> restart_cost;
  std::string explain;
};

/// Declares --communication, --replicas, --explain and, by subject, the rest.
void add_simulation_flags(Flags& flags, SimulationChoice& choice);

/// The input under the chosen model: semantics, contention, overlap, recompute, offload,
/// explanation. Fails
/// with kUsage.
Result<SimulationInput> chosen_input(SimulationInput input, const SimulationChoice& choice,
                                     const Cluster* cluster = nullptr);

/// Simulates under the chosen model; with replicas the report has a 90 % band, with failures what
/// a long run loses. `cluster`, where there is one, says which links are shared. Fails like
/// `simulate`, `iteration_band` and `goodput`, and with kUsage on flags that change nothing.
Result<SimulationOutcome> simulate_chosen(SimulationInput input, const SimulationChoice& choice,
                                          const Cluster* cluster = nullptr);

/// The same for an input that is as chosen already.
Result<SimulationOutcome> simulate_as_chosen(const SimulationInput& input,
                                             const SimulationChoice& choice);

}  // namespace headrace::cli
