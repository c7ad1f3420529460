// What a simulation says about one iteration: times, bubbles, memory, and the textbook formula.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"
#include "core/schedule.h"
#include "core/units.h"

namespace headrace {

/// Memory of one device (or stage) by what it is for.
struct MemoryItems {
  Bytes parameters{0};
  Bytes gradients{0};
  Bytes optimizer{0};
  Bytes activations{0};    ///< In flight, at the moment of the peak.
  Bytes communication{0};  ///< Buffers of boundary tensors.
  Bytes workspace{0};      ///< Largest extra need of a running layer.
  Bytes margin{0};         ///< Allocator and runtime reserve.
  /// Between I and W: saved inputs, and the output gradients that W needs.
  Bytes deferred_weight_grad{0};
  Bytes recompute{0};        ///< What a recomputed forward brought back.
  Bytes weight_versions{0};  ///< Further copies of the parameters (asynchronous schedules).
  [[nodiscard]] Bytes total() const {
    return parameters + gradients + optimizer + activations + communication + workspace + margin +
           deferred_weight_grad + recompute + weight_versions;
  }
  friend bool operator==(const MemoryItems&, const MemoryItems&) = default;
};

/// Where one device's time of the makespan went: busy + exposed + wait + idle = makespan.
struct DeviceReport {
  Seconds busy{0};                   ///< Computing.
  Seconds exposed_communication{0};  ///< Waiting while the needed message is on its way.
  Seconds wait{0};                   ///< Waiting for another device to produce the message.
  Seconds idle{0};                   ///< Before its first and after its last action.
  double utilisation = 0;            ///< busy / makespan = 1 - bubble_ratio of the device.
  double peak_activations = 0;  ///< Stage-micro-batches in flight, in stages' activation units.
  Bytes peak_memory{0};
  Bytes peak_host_memory{0};  ///< Of what OFFLOAD took away.
  MemoryItems memory_items;   ///< At the peak.
  std::optional<Bytes> capacity = {};
  friend bool operator==(const DeviceReport&, const DeviceReport&) = default;
};

/// One assumption of the formula and the time by which it fails here; the costs of all of them
/// add up to iteration - formula.
struct FormulaAssumption {
  std::string name;  ///< "equal_stages", "schedule", "hidden_communication", "no_fixed_cost".
  Seconds cost{0};
  friend bool operator==(const FormulaAssumption&, const FormulaAssumption&) = default;
};

/// (micro-batches + stages - 1) x slowest stage, as what it is.
struct Formula {
  Seconds total{0};
  double relative_error = 0;  ///< (formula - simulated iteration) / simulated iteration.
  std::vector<FormulaAssumption> assumptions;
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// Where `coverage` of the replicas of a run with random times end.
struct Band {
  Seconds low{0};
  Seconds median{0};
  Seconds high{0};
  double coverage = 0;
  friend bool operator==(const Band&, const Band&) = default;
};

/// A long run with failures: see simulator/failures.h.
struct Goodput {
  double availability = 0;         ///< Useful share of the time.
  Seconds effective_iteration{0};  ///< Iteration time / availability, on average.
  Band band;                       ///< Of the effective iteration over runs of a day.
  Seconds checkpoint_interval{0};  ///< That was assumed.
  Seconds best_interval{0};        ///< That would lose least.
  friend bool operator==(const Goodput&, const Goodput&) = default;
};

/// Why an action started when it did.
enum class Cause {
  kStart,    ///< Nothing came before.
  kDevice,   ///< The action before it on its device ended then.
  kMessage,  ///< What it needs from another stage came then.
  kPartner,  ///< A send or receive: the device at the other end was ready then.
  kCopy,     ///< A copy between device and host ended then.
};

/// "start", "device", "message", "partner", "copy".
std::string_view name_of(Cause cause);

struct CausalStep {
  DeviceId device{};
  Action action;
  Seconds start{0};
  Seconds end{0};
  Cause cause = Cause::kStart;
  friend bool operator==(const CausalStep&, const CausalStep&) = default;
};

/// Result of simulating one iteration. Definitions: docs/glossary.md.
struct Simulation {
  std::string schedule;
  int stages = 0;     ///< Of the model; each stands on the devices `pipelines` times.
  int pipelines = 1;  ///< Replicas of the model on the same devices.
  int devices = 0;
  int microbatches = 0;
  std::string communication = "async";  ///< Semantics of sends and receives.
  Seconds makespan{0};                  ///< Start of the first to end of the last compute action.
  /// No order of these stages on these devices has a shorter makespan; 0: unknown.
  Seconds makespan_bound{0};
  Seconds span{0};       ///< Largest over devices of last end - first start.
  Seconds iteration{0};  ///< makespan + exposed gradient reduction and optimizer.
  /// The same where devices do not wait for one another before the optimizer (post-validation).
  Seconds iteration_without_barrier{0};
  /// Of a schedule that is not drained: its iteration is M times this.
  std::optional<Seconds> steady_microbatch = {};
  Seconds ideal{0};                     ///< Busy time of the busiest device.
  double bubble_ratio = 0;              ///< Mean over devices of 1 - busy / makespan.
  double bubble_overhead = 0;           ///< makespan / ideal - 1.
  std::optional<double> samples_per_s;  ///< Absent where the batch size is unknown.
  double microbatches_per_s = 0;
  Formula formula;
  std::vector<DeviceReport> per_device;
  std::optional<Band> band;
  std::optional<Goodput> goodput = {};
  std::vector<CausalStep> explanation = {};  ///< Why the action that was asked for starts then.
  std::vector<Action> critical_path;         ///< The chain of actions that sets the makespan.
  friend bool operator==(const Simulation&, const Simulation&) = default;
};

}  // namespace headrace
