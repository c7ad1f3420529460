// A plan: which layers form which stage, on which device, run by which schedule, at what cost.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/profile.h"
#include "core/simulation.h"
#include "core/units.h"

namespace headrace {

/// One stage with everything the simulator and executor need to know of it.
struct PlanStage {
  std::vector<std::string> devices;  ///< Ids in the cluster; one per replica.
  std::vector<std::string> layers;   ///< Ids in order; never empty.
  Duration forward;                  ///< Per micro-batch on this stage's device.
  Duration backward;                 ///< Whole backward.
  std::optional<Duration> input_grad;
  std::optional<Duration> weight_grad;
  std::vector<std::string> recompute = {};  ///< Ids of layers recomputed in backward.
  Bytes output{0};            ///< Per micro-batch, sent to the next stage; 0 for the last.
  Bytes saved_activation{0};  ///< Per micro-batch in flight.
  MemoryItems memory;         ///< At the planned schedule and micro-batch count.
  std::optional<Bytes> capacity = {};
  friend bool operator==(const PlanStage&, const PlanStage&) = default;
};

/// Weights that several stages share, each with a copy: their gradients are added up once an
/// iteration.
struct TiedWeights {
  std::vector<int> stages;  ///< At least two, ascending.
  Bytes gradient{0};
  friend bool operator==(const TiedWeights&, const TiedWeights&) = default;
};

/// Degrees of parallelism; devices used = pipeline x data x tensor.
struct Parallel {
  int pipeline = 1;
  int virtual_stages = 1;
  int data = 1;
  int tensor = 1;
  friend bool operator==(const Parallel&, const Parallel&) = default;
};

/// The split a framework would make by default, under the same costs, for contrast.
struct Baseline {
  std::string name;                  ///< "equal-layers", "equal-parameters".
  std::optional<Seconds> iteration;  ///< Absent where it does not fit in memory.
  Seconds bottleneck{0};
  std::vector<int> layers_per_stage;
  std::string note = {};  ///< "stage 0 needs 15.8 GB of 12 GB".
  friend bool operator==(const Baseline&, const Baseline&) = default;
};

/// Another choice of everything that is searched, for contrast.
struct Alternative {
  std::string schedule;
  Parallel parallel;
  int micro_batch_size = 1;
  int microbatches = 1;
  Seconds iteration{0};
  Bytes peak_memory{0};  ///< Of the fullest device.
  Bytes traffic{0};      ///< Over all links, per iteration.
  bool pareto = false;   ///< Nothing in the list is as good in time, memory and traffic.
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

/// The border between stage `stage` and the next, and what moving it by one layer would do to the
/// simulated iteration; absent where the move would empty a stage or break a memory limit.
struct Boundary {
  int stage = 0;
  std::string after_layer;
  Bytes bytes{0};
  std::optional<Seconds> one_layer_earlier;  ///< Iteration time minus the plan's.
  std::optional<Seconds> one_layer_later;
  friend bool operator==(const Boundary&, const Boundary&) = default;
};

/// What the plan was made from. The cluster is kept whole so that a plan can be simulated alone.
struct PlanInputs {
  std::string profile_fingerprint;
  std::string profile_file;
  Cluster cluster;
  std::string cluster_file = {};  ///< Empty where --devices made it.
  friend bool operator==(const PlanInputs&, const PlanInputs&) = default;
};

struct Plan {
  PlanInputs inputs;
  ModelInfo model;
  std::string dtype = "fp32";
  int sequence_length = 0;
  std::string objective = "iteration-time";
  Parallel parallel;
  int global_batch = 0;
  int micro_batch_size = 1;
  int microbatches = 1;
  std::string schedule = "1f1b";
  std::map<std::string, std::string> schedule_parameters = {};
  std::string optimizer = {};
  Duration optimizer_step = {};  ///< Slowest stage's share, once per iteration.
  std::vector<PlanStage> stages;
  std::vector<TiedWeights> tied = {};
  Seconds bottleneck{0};  ///< Forward + backward of the slowest stage; of all stages of a device.
  Seconds bound{0};       ///< No plan's objective can be below this.
  double gap = 0;         ///< objective value / bound - 1.
  bool exact = false;     ///< The objective value is proven optimal.
  std::optional<Simulation> predicted;
  std::vector<Baseline> baselines = {};
  std::vector<Alternative> alternatives = {};  ///< The plan itself first, by time.
  std::vector<Boundary> boundaries = {};
  std::vector<std::string> notes = {};
  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace headrace
