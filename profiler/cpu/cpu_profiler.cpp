#include "profiler/cpu/cpu_profiler.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "core/version.h"
#include "models/torch/optimizer.h"
#include "profiler/assemble_profile.h"
#include "profiler/cpu/layer_chain.h"
#include "profiler/cpu/saved_tensors.h"
#include "profiler/layer_classes.h"
#include "profiler/load_processes.h"
#include "profiler/processors.h"
#include "profiler/rounds.h"

namespace headrace {
namespace {

constexpr std::int64_t kBuildWhole = std::int64_t{64} << 20;  // Parameters; 1 GiB with Adam.
constexpr int kDefaultLoad = 2;
constexpr int kOptimizerSteps = 15;
constexpr double kLearningRate = 1e-6;  // Small: the gradients are sums over many rounds.

// What is measured and which of the chain's layers are built for it.
struct Workload {
  ModelSpec spec;
  TorchModelOptions model;
  std::vector<LayerFacts> chain;
  std::vector<LayerClass> classes;
  std::vector<int> positions;       // Of the layers that are built.
  std::vector<int> class_of_layer;  // Of the same.
};

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

std::int64_t parameters_in(const std::vector<LayerFacts>& chain) {
  std::int64_t total = 0;
  for (const LayerFacts& layer : chain) total += layer.parameters;
  return total;
}

void choose_layers(Workload& workload) {
  const bool whole = parameters_in(workload.chain) <= kBuildWhole;
  for (std::size_t i = 0; i < workload.chain.size(); ++i) {
    for (std::size_t c = 0; c < workload.classes.size(); ++c) {
      const std::vector<int>& members = workload.classes[c].members;
      const int position = static_cast<int>(i);
      if (!(whole ? std::ranges::count(members, position) > 0 : members.front() == position)) {
        continue;
      }
      workload.positions.push_back(position);
      workload.class_of_layer.push_back(static_cast<int>(c));
    }
  }
}

Result<Workload> make_workload(const ModelSpec& spec, const CpuProfileOptions& options) {
  const Result<int> length = sequence_length_of(spec, options.sequence_length);
  if (!length) return Failure(length.error());
  auto chain = layers_of(spec, options.micro_batch, options.sequence_length);
  if (!chain) return Failure(chain.error());
  if (auto dtype = scalar_type_of(options.dtype); !dtype) return Failure(dtype.error());

  Workload workload{.spec = *complete_spec(spec),
                    .model = {.micro_batch = options.micro_batch,
                              .sequence_length = *length,
                              .dtype = options.dtype,
                              .seed = options.seed},
                    .chain = std::move(*chain),
                    .classes = {},
                    .positions = {},
                    .class_of_layer = {}};
  workload.classes = classes_of(workload.chain);
  choose_layers(workload);
  return workload;
}

Result<LayerChain> build_chain(const Workload& workload) {
  at::set_num_threads(1);
  return LayerChain::build(workload.spec, workload.chain, workload.positions, workload.model);
}

// The child's half: the same rounds as are measured, for ever.
void work_alike(const Workload& workload, const std::function<void()>& ready) {
  Result<LayerChain> chain = build_chain(workload);
  if (!chain) return;
  chain->round(workload.class_of_layer);
  ready();
  while (true) chain->round(workload.class_of_layer);
}

Result<std::vector<int>> choose_processors(int load) {
  std::vector<int> usable = usable_processors();
  const int cores = static_cast<int>(usable.size());
  if (load < 0 || load > cores) {
    return usage(fmt::format("a load on {} cores, but {} are usable", load, cores), "--load",
                 fmt::format("use --load {} or less", cores));
  }
  usable.resize(static_cast<std::size_t>(load > 0 ? load : std::min(cores, kDefaultLoad)));
  return usable;
}

// Once per iteration: the optimizer's step and the zeroing of the gradients.
Result<Duration> measure_optimizer(const LayerChain& chain, const Workload& workload,
                                   const std::string& name) {
  const std::vector<at::Tensor> parameters = chain.parameters();
  auto optimizer = make_optimizer(name, kLearningRate, parameters);
  if (!optimizer) return Failure(optimizer.error());
  std::int64_t built = 0;
  for (const at::Tensor& parameter : parameters) built += parameter.numel();
  if (built == 0) return Duration{};
  // The cost is linear in the parameters; of a large model only one layer of each kind is here.
  const double share =
      static_cast<double>(parameters_in(workload.chain)) / static_cast<double>(built);

  std::vector<Seconds> steps;
  (*optimizer)->step();  // Allocates the state.
  for (int step = 0; step < kOptimizerSteps; ++step) {
    const Seconds start = steady_now();
    (*optimizer)->step();
    (*optimizer)->zero_grad(/*set_to_none=*/false);
    steps.push_back((steady_now() - start) * share);
  }
  return robust_duration(steps);
}

LayerCost cost_of(const LayerChain& chain, const Workload& workload, std::size_t layer_class,
                  const std::vector<std::vector<Seconds>>& series) {
  const auto times = [&](Phase phase) {
    const std::size_t index = kPhases * layer_class + static_cast<std::size_t>(phase);
    return robust_duration(series[index]);
  };
  const auto built = std::ranges::find(workload.class_of_layer, static_cast<int>(layer_class));
  const auto layer = static_cast<std::size_t>(built - workload.class_of_layer.begin());
  const LayerMemory memory = chain.memory_of(layer);
  LayerCost cost{.forward = times(Phase::kForward),
                 .backward = times(Phase::kBackward),
                 .input_grad = times(Phase::kInputGrad),
                 .weight_grad = times(Phase::kWeightGrad),
                 .parameters = Bytes(chain.parameter_bytes(layer)),
                 .saved_activation = memory.saved_activation,
                 .output = memory.output,
                 .workspace = memory.workspace,
                 .deferred_weight_grad = memory.deferred_weight_grad};
  if (!workload.classes[layer_class].needs_input_gradient) {
    cost.input_grad = Duration{};
    cost.weight_grad = cost.backward;
  }
  return cost;
}

ProfiledDevice this_processor() {
  return {.kind = "cpu",
          .name = processor_name(),
          .count = 1,
          .software = {{"headrace", kVersion},
                       {"libtorch", libtorch_version()},
                       {"compiler", fmt::format("g++ {}", __VERSION__)}}};
}

RoundOptions round_options(const CpuProfileOptions& options) {
  RoundOptions rounds{.max_rounds = options.max_repetitions, .time_limit = options.time_limit};
  rounds.stability.min_repetitions =
      std::min(rounds.stability.min_repetitions, options.max_repetitions);
  if (options.on_progress) {
    rounds.on_progress = [&options](int done, int total) {
      options.on_progress(done, total, "measuring layers");
    };
  }
  return rounds;
}

Result<Profile> measure(const Workload& workload, const std::string& source,
                        const CpuProfileOptions& options) {
  const auto processors = choose_processors(options.load);
  if (!processors) return Failure(processors.error());
  const std::span<const int> others = std::span(*processors).subspan(1);
  Result<LoadProcesses> load = LoadProcesses::start(
      others, [&](const std::function<void()>& ready) { work_alike(workload, ready); });
  if (!load) return Failure(load.error());
  if (auto pinned = pin_to(processors->front()); !pinned) return Failure(pinned.error());

  install_saved_tensor_hooks();
  Result<LayerChain> chain = build_chain(workload);
  if (!chain) return Failure(chain.error());
  const RoundsResult rounds = measure_in_rounds(
      kPhases * static_cast<int>(workload.classes.size()),
      [&] { return chain->round(workload.class_of_layer); }, round_options(options), steady_now);
  const Result<Duration> step = measure_optimizer(*chain, workload, options.optimizer);
  if (!step) return Failure(step.error());
  if (auto loaded = load->still_running(); !loaded) return Failure(loaded.error());

  ProfileParts parts{.model = {.name = workload.spec.name,
                               .source = source,
                               .parameters = *parameter_count(workload.spec),
                               .spec = workload.spec},
                     .device = this_processor(),
                     .dtype = options.dtype,
                     .micro_batch = options.micro_batch,
                     .sequence_length = workload.model.sequence_length,
                     .optimizer = options.optimizer,
                     .optimizer_step = *step,
                     .chain = workload.chain,
                     .classes = workload.classes,
                     .costs = {}};
  for (std::size_t c = 0; c < workload.classes.size(); ++c) {
    parts.costs.push_back(cost_of(*chain, workload, c, rounds.series));
  }
  return assemble_profile(parts);
}

Failure torch_failed(std::string_view message) {
  const std::string_view first_line = message.substr(0, message.find('\n'));
  return Failure({.code = ErrorCode::kUnavailable,
                  .what = fmt::format("LibTorch: {}", first_line),
                  .where = "profiling on the CPU",
                  .fix = "use a smaller model, --micro-batch or --seq if memory ran out"});
}

}  // namespace

Result<Profile> profile_on_cpu(const ModelSpec& spec, const std::string& source,
                               const CpuProfileOptions& options) {
  if (options.max_repetitions < 1) {
    return usage(fmt::format("{} repetitions measure nothing", options.max_repetitions),
                 "--max-repetitions", "use 1 or more");
  }
  try {
    const Result<Workload> workload = make_workload(spec, options);
    if (!workload) return Failure(workload.error());
    return measure(*workload, source, options);
  } catch (const std::bad_alloc&) {
    return torch_failed("out of memory");
  } catch (const std::exception& thrown) {
    return torch_failed(thrown.what());
  }
}

std::string libtorch_version() {
  return TORCH_VERSION;
}

}  // namespace headrace
