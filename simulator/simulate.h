// The discrete-event simulator: a schedule and what its actions cost -> when everything happens.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/result.h"
#include "core/schedule.h"
#include "core/simulation.h"
#include "core/timeline.h"
#include "core/units.h"
#include "simulator/communication.h"
#include "simulator/schedule_costs.h"

namespace headrace {

/// What one stage costs per micro-batch, on the device it stands on.
struct StageCost {
  Seconds forward{0};
  Seconds backward{0};                  ///< Whole backward (I + W).
  std::optional<Seconds> input_grad{};  ///< Needed when the schedule has I and W.
  std::optional<Seconds> weight_grad{};
  Seconds forward_spread{0};  ///< Standard deviation of one execution.
  Seconds backward_spread{0};
  Seconds input_grad_spread{0};
  Seconds weight_grad_spread{0};
  Seconds recompute{0};        ///< R, where the schedule has it.
  Seconds offload{0};          ///< OFFLOAD, and RELOAD, of one micro-batch's activations.
  Seconds reduce_gradient{0};  ///< All-reduce over the data replicas, once an iteration.
  double activation = 1;       ///< In the unit of DeviceReport::peak_activations.
  Bytes saved_activation{0};   ///< Per micro-batch in flight.
  Bytes kept_input{0};         ///< What is left of it from F to R, where the schedule has R.
  Bytes stashed_gradient{0};   ///< Held beside it from I to W: the layers' output gradients.
  Bytes output{0};             ///< Message to the next stage; its gradient is as large.
  MemoryItems fixed{};         ///< Parameters to margin; what the schedule decides is found out.
};

/// Weights that several stages share: their gradients are added up once an iteration.
struct TiedReduction {
  std::vector<int> stages;
  Seconds time{0};
};

/// One iteration to simulate.
struct SimulationInput {
  Schedule schedule;
  std::vector<StageCost> stages;
  /// Time of a message of stage s to stage s + 1 (and of the gradient back), 0 for the last stage;
  /// ignored between stages on one device. Size S.
  std::vector<Seconds> hop_forward;
  std::vector<Seconds> hop_backward;  ///< From stage s + 1 back to s.
  /// Durations of single actions by kind F, B, I, W, R; element stage * M + micro-batch. An empty
  /// list means that all micro-batches take the stage's cost.
  std::array<std::vector<Seconds>, kComputeKinds> durations = {};
  /// Measured times of one execution by kind F, B, I, W, R and stage, for `iteration_band`; may be
  /// empty, by kind and by stage.
  std::array<std::vector<std::vector<Seconds>>, kComputeKinds> samples = {};
  /// Time of a pair `(F;B)OVERLAP_F_B` as a share of F + B: it starts when both have their input
  /// and ends for both at once. Absent: one after the other.
  std::optional<double> overlap_share = {};
  CommunicationModel communication = {};
  std::vector<TiedReduction> tied = {};
  std::optional<Action> explain = {};  ///< Asks for Simulation::explanation.
  Seconds optimizer{0};                ///< Slowest stage's update, once an iteration.
  std::vector<DeviceId> place = {};    ///< Of every device in the plan's cluster; empty: unknown.
  std::vector<std::optional<Bytes>> capacity = {};  ///< Of every device; empty: unknown.
  std::optional<int> global_batch{};                ///< For samples_per_s.
};

struct SimulationOutcome {
  Simulation report;
  Timeline timeline;  ///< With the memory curve of every device.
};

/// Times every action: a device runs its row in order; F(s,m) waits for the message of F(s-1,m),
/// B and I of stage s for that of stage s+1. What messages cost and whom they hold up is said by
/// `input.communication`; a compute-only schedule gets its sends and receives from `lower` (with
/// deferred receives for batched semantics) where the semantics need them.
/// OFFLOAD and RELOAD start where they stand in the row and run beside everything else, those of a
/// device and direction one after another; B, I and R wait for their RELOAD.
/// O(actions) with plain async messages, O(n log n) otherwise; deterministic. Fails with kBadInput
/// when the schedule is not valid or needs I and W times that are missing, with kDeadlock (cycle
/// named) when it waits for itself.
Result<SimulationOutcome> simulate(const SimulationInput& input);

/// The same without timeline, memory curve, critical path and formula: only the time. For
/// planners that score many plans.
Result<Seconds> simulated_iteration(const SimulationInput& input);

/// Stage costs, hops and memory of a plan for `schedule`, which must have the plan's stage count.
/// Devices' links come from the cluster that the plan carries.
Result<SimulationInput> simulation_input(const Plan& plan, Schedule schedule);

/// The costs of an input's stages as searched schedules take them; W 0 and I the whole backward
/// where the two are not known apart.
ScheduleCosts schedule_costs(const SimulationInput& input);

/// Turns costs per micro-batch into costs per piece of its sequence, which are taken to be equal
/// (of a causal model later pieces take somewhat longer). No change for schedules of whole
/// micro-batches.
void divide_into_pieces(SimulationInput& input);

/// Busy, exposed communication, wait, idle and bubbles of any timeline, predicted or measured.
/// Fills what a timeline can tell: makespan, span, ideal, ratios and per_device times.
/// `hop_forward`/`hop_backward` as above separate communication from waiting; empty: all waiting.
Simulation account(const Timeline& timeline, const std::vector<DeviceId>& device_of_stage,
                   const std::vector<Seconds>& hop_forward,
                   const std::vector<Seconds>& hop_backward);

}  // namespace headrace
