// Random content: awkward texts, numbers of every magnitude, structures that validate.
#include "tests/support/random_nouns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace headrace::testing {

int NounMaker::number(int low, int high) {
  const auto span = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<int>(random_() % span);
}

std::string NounMaker::text() {
  static constexpr std::array kPieces = {"layers.3", "a/b~c", "ä€😀", "\"quoted\\\"", "\n\t", " ",
                                         "{}[],:",   "x",     "0",   "\x01\x1f",     "true"};
  std::string result;
  for (int pieces = number(1, 4); pieces > 0; --pieces) {
    result += kPieces[static_cast<std::size_t>(number(0, kPieces.size() - 1))];
  }
  return result;
}

double NounMaker::fraction() {
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

double NounMaker::any_number() {
  const double mantissa = fraction() - 0.5;
  return mantissa * std::pow(10.0, number(-30, 30));
}

Seconds NounMaker::time() {
  if (number(0, 9) == 0) return Seconds{0};
  const double mantissa = fraction();
  return Seconds(mantissa * std::pow(10.0, number(-12, 11)));
}

Seconds NounMaker::difference() {
  return Seconds((fraction() - 0.5) * 1e3);
}

Bytes NounMaker::bytes() {
  // The odd nonzero value in full nouns keeps "absent" and "zero" apart.
  const std::uint64_t bits = random_();
  return Bytes(static_cast<std::int64_t>(bits >> number(12, 63)) | (full_ ? 1 : 0));
}

BytesPerSecond NounMaker::bandwidth() {
  if (number(0, 9) == 0) return BytesPerSecond{0};
  return BytesPerSecond(1 + fraction() * 1e12);
}

LinkSpeed NounMaker::link() {
  return {.latency = time(), .bandwidth = bandwidth()};
}

Duration NounMaker::duration(bool with_samples) {
  Duration result{.mean = time(), .stddev = time()};
  if (full_) result.mean += Seconds(1e-3);
  if (with_samples) result.samples = list<Seconds>([&] { return time(); });
  return result;
}

MemoryItems NounMaker::memory_items() {
  return {.parameters = bytes(),
          .gradients = bytes(),
          .optimizer = bytes(),
          .activations = bytes(),
          .communication = bytes(),
          .workspace = bytes(),
          .margin = bytes(),
          .deferred_weight_grad = chance() ? bytes() : Bytes{0},
          .recompute = chance() ? bytes() : Bytes{0},
          .weight_versions = chance() ? bytes() : Bytes{0}};
}

SpecValue NounMaker::setting() {
  switch (number(0, 3)) {
    case 0:
      return chance();
    case 1:
      return static_cast<std::int64_t>(random_());
    case 2:
      return any_number();
    default:
      return text();
  }
}

ModelSpec NounMaker::model() {
  ModelSpec spec{.family = text(), .name = chance() ? text() : ""};
  for (int count = number(1, 5); count > 0; --count) spec.values["setting " + text()] = setting();
  return spec;
}

ModelInfo NounMaker::model_info() {
  ModelInfo info{.name = text(), .source = text(), .parameters = bytes().value()};
  if (chance()) info.spec = model();
  return info;
}

Action NounMaker::action(int stages, int microbatches) {
  Action result{.kind = static_cast<ActionKind>(number(0, 15)),
                .stage = StageId{number(0, stages - 1)}};
  if (result.kind < ActionKind::kUnshard) {
    result.microbatch = MicrobatchId{number(0, microbatches - 1)};
  }
  return result;
}

Layer NounMaker::layer(std::string id) {
  static constexpr std::array kNumbers = {"forward", "parameter_bytes", "workspace_bytes"};
  Layer result{.id = std::move(id), .kind = chance() ? text() : ""};
  result.forward = duration(true);
  result.backward = duration(true);
  if (chance()) result.input_grad = duration(true);
  if (chance()) result.weight_grad = duration(true);
  result.parameters = bytes();
  result.gradients = bytes();
  result.optimizer = bytes();
  result.saved_activation = bytes();
  result.output = bytes();
  result.workspace = bytes();
  if (chance()) result.deferred_weight_grad = bytes();
  if (chance()) result.tie_group = text();
  result.frozen = chance();
  if (chance()) result.same_as = "0 first";
  result.origin = static_cast<Origin>(number(0, 4));
  if (chance()) {
    result.origins[kNumbers[static_cast<std::size_t>(number(0, 2))]] =
        static_cast<Origin>(number(0, 4));
  }
  return result;
}

ModelGraph NounMaker::graph() {
  std::vector<Layer> layers{layer("0 first")};
  for (int i = number(1, 5); i > 0; --i) layers.push_back(layer(std::to_string(i) + text()));
  std::vector<LayerEdge> edges;
  for (int to = 1; to < static_cast<int>(layers.size()); ++to) {
    for (int from = 0; from < to; ++from) {
      if (from + 1 < to && number(0, 2) > 0) continue;
      edges.push_back({.from = LayerId{from}, .to = LayerId{to}, .bytes = bytes()});
    }
  }
  return *ModelGraph::build(std::move(layers), std::move(edges));
}

Profile NounMaker::profile() {
  Profile profile{.model = model_info(),
                  .device = {.kind = text(), .name = text(), .count = number(1, 9)},
                  .dtype = text(),
                  .micro_batch_size = number(1, 2'000'000'000),
                  .sequence_length = number(0, 2'000'000'000)};
  if (chance()) profile.device.driver = text();
  if (chance()) profile.device.software[text()] = text();
  if (chance()) profile.fingerprint = text();
  profile.graph = graph();
  if (chance()) profile.link = link();
  if (chance()) profile.optimizer_step = duration(true);
  if (chance()) profile.optimizer = text();
  return profile;
}

Cluster NounMaker::cluster() {
  Cluster cluster{.devices = {}, .links = {}, .intra_node = link(), .inter_node = link()};
  for (int i = number(2, 5); i > 0; --i) {
    Device device{.id = std::to_string(i) + text()};
    if (chance()) device.kind = text();
    if (chance()) device.node = text();
    if (chance()) device.memory = bytes();
    device.speed = 1e-3 + fraction();
    cluster.devices.push_back(device);
  }
  for (std::size_t i = 1; i < cluster.devices.size(); ++i) {
    if (!chance()) continue;
    cluster.links.push_back({.from = cluster.devices[i].id,
                             .to = cluster.devices[0].id,
                             .speed = link(),
                             .duplex = chance() ? Duplex::kHalf : Duplex::kFull,
                             .shared_with = chance() ? text() : ""});
  }
  return cluster;
}

DeviceReport NounMaker::device_report() {
  return {.busy = time(),
          .exposed_communication = time(),
          .wait = time(),
          .idle = time(),
          .utilisation = fraction(),
          .peak_activations = fraction() * 100,
          .peak_memory = bytes(),
          .peak_host_memory = chance() ? bytes() : Bytes{0},
          .memory_items = memory_items(),
          .capacity = chance() ? std::optional(bytes()) : std::nullopt};
}

Band NounMaker::band() {
  return {.low = time(), .median = time(), .high = time(), .coverage = fraction()};
}

WhatIf NounMaker::what_if() {
  WhatIf result{.keys = list<std::string>([&] { return text(); })};
  result.rows = list<WhatIfRow>([&] {
    WhatIfRow row;
    for (std::size_t k = 0; k < result.keys.size(); ++k) row.values.push_back(text());
    if (chance()) {
      row.result = WhatIfResult{.iteration = time(),
                                .change = any_number(),
                                .bubble_ratio = any_number(),
                                .peak_activations = any_number(),
                                .peak_memory = bytes(),
                                .messages = number(0, 1'000'000),
                                .traffic = bytes(),
                                .microbatches_per_s = any_number(),
                                .pareto = chance()};
      if (chance()) row.result->missing = bytes();
      if (chance()) row.result->samples_per_s = any_number();
    }
    if (chance()) row.problem = text();
    if (chance()) row.note = text();
    return row;
  });
  result.sensitivity_share = any_number();
  result.sensitivities =
      list<Sensitivity>([&] { return Sensitivity{.what = text(), .change = any_number()}; });
  return result;
}

Simulation NounMaker::simulation() {
  Simulation result{.schedule = text(),
                    .stages = number(1, 9),
                    .devices = number(1, 4),
                    .microbatches = number(1, 9),
                    .communication = text(),
                    .makespan = time(),
                    .span = time(),
                    .iteration = time(),
                    .ideal = time(),
                    .bubble_ratio = any_number(),
                    .bubble_overhead = any_number()};
  if (chance()) result.samples_per_s = any_number();
  result.microbatches_per_s = any_number();
  result.formula = {.total = time(), .relative_error = any_number(), .assumptions = {}};
  result.formula.assumptions = list<FormulaAssumption>(
      [&] { return FormulaAssumption{.name = text(), .cost = difference()}; });
  for (int device = 0; device < result.devices; ++device) {
    result.per_device.push_back(device_report());
  }
  result.pipelines = number(1, 2);
  result.iteration_without_barrier = time();
  if (chance()) result.steady_microbatch = time();
  if (chance()) result.makespan_bound = time();
  if (chance()) result.band = band();
  if (chance()) {
    result.goodput = Goodput{.availability = fraction(),
                             .effective_iteration = time(),
                             .band = band(),
                             .checkpoint_interval = time(),
                             .best_interval = time()};
  }
  if (chance()) {
    result.explanation = list<CausalStep>([&] {
      return CausalStep{.device = DeviceId{number(0, result.devices - 1)},
                        .action = action(result.stages, result.microbatches),
                        .start = time(),
                        .end = time(),
                        .cause = static_cast<Cause>(number(0, 3))};
    });
  }
  result.critical_path = list<Action>([&] { return action(result.stages, result.microbatches); });
  return result;
}

PlanStage NounMaker::stage(int index, const Cluster& cluster, const Parallel& parallel) {
  PlanStage result;
  for (int i = 0; i < parallel.data * parallel.tensor; ++i) {
    result.devices.push_back(cluster.devices[static_cast<std::size_t>(i)].id);
  }
  for (int i = number(1, 3); i > 0; --i) {
    result.layers.push_back(std::to_string(index) + "." + std::to_string(i) + text());
  }
  result.forward = duration(false);
  result.backward = duration(false);
  if (chance()) result.input_grad = duration(false);
  if (chance()) result.weight_grad = duration(false);
  if (chance()) result.recompute = {result.layers.front()};
  result.output = bytes();
  result.saved_activation = bytes();
  result.memory = memory_items();
  if (chance()) result.capacity = bytes();
  return result;
}

Plan NounMaker::plan() {
  Plan plan{.inputs = {.profile_fingerprint = text(), .profile_file = text(), .cluster = cluster()},
            .model = model_info(),
            .dtype = text(),
            .sequence_length = number(0, 9000),
            .objective = text(),
            .parallel = {.pipeline = number(full_ ? 2 : 1, 3), .virtual_stages = number(1, 2)},
            .global_batch = number(0, 1'000'000'000),
            .micro_batch_size = number(1, 64),
            .microbatches = number(1, 64),
            .schedule = text()};
  plan.parallel.data = number(1, 2);
  if (chance()) plan.inputs.cluster_file = text();
  if (chance()) plan.schedule_parameters[text()] = text();
  if (chance()) plan.optimizer = text();
  if (chance()) plan.optimizer_step = duration(false);
  const int stages = plan.parallel.pipeline * plan.parallel.virtual_stages;
  for (int s = 0; s < stages; ++s) {
    plan.stages.push_back(stage(s, plan.inputs.cluster, plan.parallel));
  }
  if (stages > 1 && chance()) plan.tied = {{.stages = {0, stages - 1}, .gradient = bytes()}};
  plan.bottleneck = time();
  plan.bound = time();
  plan.gap = any_number();
  plan.exact = chance();
  if (chance()) {
    plan.predicted = simulation();
    plan.predicted->per_device.clear();
  }
  plan.alternatives = list<Alternative>([&] {
    return Alternative{.schedule = text(),
                       .parallel = {.pipeline = number(1, 9), .data = number(1, 4)},
                       .micro_batch_size = number(1, 9),
                       .microbatches = number(1, 99),
                       .iteration = time(),
                       .peak_memory = bytes(),
                       .traffic = bytes(),
                       .pareto = chance()};
  });
  plan.baselines = list<Baseline>([&] {
    return Baseline{.name = text(),
                    .iteration = chance() ? std::optional(time()) : std::nullopt,
                    .bottleneck = time(),
                    .layers_per_stage = list<int>([&] { return number(0, 9); }),
                    .note = chance() ? text() : ""};
  });
  for (int s = 0; s + 1 < stages && chance(); ++s) {
    plan.boundaries.push_back(
        {.stage = s,
         .after_layer = plan.stages[static_cast<std::size_t>(s)].layers.back(),
         .bytes = bytes(),
         .one_layer_earlier = chance() ? std::optional(difference()) : std::nullopt,
         .one_layer_later = chance() ? std::optional(difference()) : std::nullopt});
  }
  plan.notes = list<std::string>([&] { return text(); });
  return plan;
}

Timeline NounMaker::timeline() {
  Timeline timeline{.source = static_cast<TimelineSource>(number(0, 2)),
                    .devices = number(1, 4),
                    .stages = number(1, 6),
                    .microbatches = number(1, 9),
                    .events = {},
                    .pipelines = 1};
  if (timeline.stages % 2 == 0 && chance()) timeline.pipelines = 2;
  timeline.events = list<TimelineEvent>([&] {
    TimelineEvent event{.device = DeviceId{number(0, timeline.devices - 1)},
                        .action = action(timeline.stages, timeline.microbatches),
                        .start = time()};
    event.action.overlaps_next = chance();
    event.end = event.start + time();
    return event;
  });
  std::ranges::stable_sort(timeline.events, {}, [](const TimelineEvent& event) {
    return std::tuple(event.device, event.start);
  });
  timeline.memory = list<MemorySample>([&] {
    return MemorySample{
        .device = DeviceId{number(0, timeline.devices - 1)}, .time = time(), .bytes = bytes()};
  });
  timeline.iterations =
      list<IterationTime>([&] { return IterationTime{.makespan = time(), .iteration = time()}; });
  return timeline;
}

Comparison NounMaker::comparison() {
  Comparison result{.predicted = time(),
                    .measured = time(),
                    .relative_error = any_number(),
                    .formula = time(),
                    .formula_error = any_number(),
                    .noise_floor = any_number()};
  if (chance()) result.inside_band = number(0, 1) == 1;
  result.per_stage = list<StageComparison>([&] {
    return StageComparison{.stage = number(0, 9),
                           .predicted_forward = time(),
                           .measured_forward = time(),
                           .predicted_backward = time(),
                           .measured_backward = time(),
                           .forward_error = any_number(),
                           .backward_error = any_number()};
  });
  result.memory = list<MemoryComparison>([&] {
    return MemoryComparison{.device = number(0, 9),
                            .predicted = bytes(),
                            .measured = chance() ? std::optional(bytes()) : std::nullopt};
  });
  result.explanation = list<std::string>([&] { return text(); });
  return result;
}

Error NounMaker::error() {
  Error error{.code = static_cast<ErrorCode>(number(0, 8)),
              .what = text(),
              .where = text(),
              .fix = text(),
              .why = chance() ? text() : ""};
  error.cycle = list<BlockedAction>(
      [&] { return BlockedAction{.device = number(0, 9), .action = text(), .waits_for = text()}; });
  return error;
}

}  // namespace headrace::testing
