// `headrace plan`: cut a profiled model into stages for a cluster.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/text.h"
#include "planner/planner.h"
#include "report/text_report.h"
#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"
#include "tools/headrace/command.h"
#include "tools/headrace/documents.h"
#include "tools/headrace/planned_schedule.h"

namespace headrace::cli {
namespace {

struct PlanOptions {
  std::string profile;
  std::string cluster;
  std::optional<int> devices;
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> latency;
  std::optional<int> stages;
  std::optional<int> per_device;
  std::optional<int> microbatches;
  std::optional<int> global_batch;
  std::optional<int> micro_batch;
  std::string schedule = "1f1b";
  std::string objective = "iteration-time";
  std::optional<double> memory_margin;
  std::optional<double> weight_grad_share;
  std::vector<int> split;
};

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

/// The link of --bandwidth and --latency over the profile's own, and what to say about it.
LinkSpeed link_of(const PlanOptions& options, const Profile& profile, std::string& note) {
  LinkSpeed link = profile.link.value_or(LinkSpeed{});
  if (options.latency) link.latency = *options.latency;
  if (options.bandwidth) link.bandwidth = *options.bandwidth;
  const bool free = link.bandwidth == BytesPerSecond{0} && link.latency == Seconds{0};
  if (free) {
    note = "messages between devices are taken as free; give --bandwidth and --latency";
  } else if (profile.link && !options.bandwidth) {
    note = fmt::format("the link between devices is the profile's: {} + bytes / {}",
                       to_text(link.latency), to_text(link.bandwidth));
  }
  return link;
}

Result<Cluster> cluster_for(const PlanOptions& options, const Profile& profile, std::string& note) {
  if (options.cluster.empty()) {
    if (!options.devices) {
      return usage("neither a cluster nor a number of devices is given", "--devices",
                   "add --devices 4, or --cluster FILE");
    }
    constexpr int kMostDevices = 100'000;  // no plan has more stages than layers
    if (*options.devices > kMostDevices) {
      return usage(fmt::format("{} devices are more than {}", *options.devices, kMostDevices),
                   "--devices", "give as many as the model has layers, or fewer");
    }
    const LinkSpeed link = link_of(options, profile, note);
    return uniform_cluster(*options.devices, options.memory, link);
  }
  const char* const doubled = options.devices     ? "--devices"
                              : options.memory    ? "--memory"
                              : options.bandwidth ? "--bandwidth"
                              : options.latency   ? "--latency"
                                                  : nullptr;
  if (doubled != nullptr) {
    return usage("the cluster file says this", doubled,
                 fmt::format("drop {} or --cluster", doubled));
  }
  return read_cluster(options.cluster);
}

/// M = global batch / micro-batch size, where --micro-batches does not say it.
Result<int> microbatches_for(const PlanOptions& options, const Profile& profile) {
  const int size = profile.micro_batch_size;
  if (options.micro_batch && *options.micro_batch != size) {
    return usage(fmt::format("the profile was measured with micro-batches of {}, not {}", size,
                             *options.micro_batch),
                 "--micro-batch",
                 fmt::format("use --micro-batch {}, or profile again with --micro-batch {}", size,
                             *options.micro_batch));
  }
  if (options.microbatches && options.global_batch &&
      static_cast<std::int64_t>(*options.microbatches) * size != *options.global_batch) {
    return usage(
        fmt::format("{} micro-batches of {} are {}, not {}", *options.microbatches, size,
                    static_cast<std::int64_t>(*options.microbatches) * size, *options.global_batch),
        "--global-batch", "drop --global-batch or --micro-batches");
  }
  if (options.microbatches) return *options.microbatches;
  if (!options.global_batch) {
    return usage("the size of an iteration is missing", "--micro-batches",
                 fmt::format("add --micro-batches 8, or --global-batch {} (micro-batches of {})",
                             8 * size, size));
  }
  if (*options.global_batch % size != 0) {
    const int below = *options.global_batch / size * size;
    return usage(fmt::format("M = global batch / micro-batch = {} / {} is no whole number",
                             *options.global_batch, size),
                 "--global-batch",
                 below > 0 ? fmt::format("use --global-batch {} or {}", below, below + size)
                           : fmt::format("use --global-batch {}", size));
  }
  return *options.global_batch / size;
}

/// How many stages stand on a device: --virtual, or what the schedule is made for.
Result<int> stages_per_device(const PlanOptions& options, const ScheduleRequest& named) {
  const int usual = default_virtual_stages(named.name);
  const int given = options.per_device.value_or(usual);
  if ((given == 1) == (usual == 1)) return given;
  return usage(fmt::format("'{}' has {} per device, not {}", named.name,
                           usual == 1 ? "one stage" : "several stages", given),
               "--virtual",
               usual == 1
                   ? "drop --virtual, or use --schedule interleaved"
                   : fmt::format("drop --virtual (it is {}), or use --schedule 1f1b", usual));
}

Result<int> stages_for(const PlanOptions& options, const Cluster& cluster, int per_device) {
  const auto devices = static_cast<int>(cluster.devices.size());
  const auto in_split = static_cast<int>(options.split.size());
  if (in_split > 0 && options.stages.value_or(in_split) != in_split) {
    return usage(fmt::format("{} numbers of layers for {} stages", in_split, *options.stages),
                 "--split", "drop --stages: --split decides");
  }
  constexpr int kMostStages = 100'000;
  const int all = std::min(kMostStages / per_device, devices) * per_device;
  const int stages = in_split > 0 ? in_split : options.stages.value_or(all);
  if (stages % per_device != 0) {
    return usage(fmt::format("{} stages do not divide by {} per device", stages, per_device),
                 in_split > 0 ? "--split" : "--stages",
                 fmt::format("use {} stages", (stages / per_device + 1) * per_device));
  }
  if (stages / per_device <= devices) return stages;
  return Failure(
      {.code = ErrorCode::kInfeasible,
       .what = per_device == 1
                   ? fmt::format("{} stages need {} devices; there are {}", stages, stages, devices)
                   : fmt::format("{} stages, {} per device, need {} devices; there are {}", stages,
                                 per_device, stages / per_device, devices),
       .where = "--stages",
       .fix = fmt::format("use --stages {} or fewer, or more devices", devices * per_device)});
}

Passes passes_of(const Schedule& schedule) {
  if (splits_backward(schedule)) return Passes::kSplitBackward;
  return trains(schedule) ? Passes::kWholeBackward : Passes::kForwardOnly;
}

/// What is fixed before the search, with the schedule that scores every cut.
struct Preparation {
  PlanRequest request;
  Schedule schedule;
};

Result<Preparation> prepare(const PlanOptions& options, const Profile& profile,
                            const Cluster& cluster) {
  const auto microbatches = microbatches_for(options, profile);
  if (!microbatches) return Failure(microbatches.error());
  const auto named = schedule_request_from_text(options.schedule);
  if (!named) return Failure(named.error());
  const auto per_device = stages_per_device(options, *named);
  if (!per_device) return Failure(per_device.error());
  const auto stages = stages_for(options, cluster, *per_device);
  if (!stages) return Failure(stages.error());
  auto schedule = generated_schedule(
      options.schedule, {.stages = *stages, .devices = *stages / *per_device}, *microbatches);
  if (!schedule) return Failure(schedule.error());
  if (schedule->pipelines > 1 || schedule->pieces > 1) {
    return usage(
        fmt::format("'{}' runs {}; plans are made for one replica of whole micro-batches",
                    named->name, schedule->pipelines > 1 ? "two replicas" : "pieces of sequences"),
        "--schedule",
        "plan with 1f1b, then headrace simulate PLAN --schedule " + std::string(named->name));
  }
  PlanRequest request{.stages = *stages,
                      .microbatches = *microbatches,
                      .global_batch = *microbatches * profile.micro_batch_size,
                      .schedule = named->name,
                      .schedule_parameters = named->parameters,
                      .in_flight = peak_in_flight(*schedule),
                      .passes = passes_of(*schedule),
                      .objective = options.objective,
                      .memory_margin = options.memory_margin.value_or(0),
                      .layers_per_stage = options.split};
  if (*per_device > 1) {
    request.device_of_stage = schedule->device_of_stage;
    request.held_together = largest_holdings(*schedule);
  }
  return Preparation{std::move(request), *std::move(schedule)};
}

Result<Plan> find_plan(const PlanOptions& options, const Profile& profile) {
  std::string link_note;
  const auto cluster = cluster_for(options, profile, link_note);
  if (!cluster) return Failure(cluster.error());
  const auto prepared = prepare(options, profile, *cluster);
  if (!prepared) return Failure(prepared.error());

  const PlanScorer scorer = [&](const Plan& plan) -> Result<Seconds> {
    const auto input = simulation_input(plan, prepared->schedule);
    if (!input) return Failure(input.error());
    return simulated_iteration(*input);
  };
  auto plan = make_plan(profile, *cluster, prepared->request, scorer);
  if (!plan) return plan;
  // A searched schedule was looked for among equal stages so far; now their costs are known.
  const auto scheduled = schedule_plan(*plan, {});
  if (!scheduled) return Failure(scheduled.error());
  const auto predicted = simulate_plan(*scheduled);
  if (!predicted) return Failure(predicted.error());
  plan->predicted = predicted->report;
  plan->inputs.profile_file = options.profile;
  plan->inputs.cluster_file = options.cluster;
  if (!link_note.empty()) plan->notes.push_back(link_note);
  return plan;
}

/// Layers whose I and W were not measured get them as shares of their backward; the fingerprint
/// stays that of the file.
Result<Profile> with_split_backward(Profile profile, double weight_share) {
  const auto given = profile.graph.layers();
  std::vector<Layer> layers(given.begin(), given.end());
  for (Layer& layer : layers) {
    if (layer.input_grad && layer.weight_grad) continue;
    const auto part = [&](double share) {
      return Duration{.mean = layer.backward.mean * share, .stddev = layer.backward.stddev * share};
    };
    layer.weight_grad = part(weight_share);
    layer.input_grad = part(1 - weight_share);
  }
  const auto edges = profile.graph.edges();
  auto graph = ModelGraph::build(std::move(layers), {edges.begin(), edges.end()});
  if (!graph) return Failure(graph.error());
  profile.graph = *std::move(graph);
  return profile;
}

Result<void> run(const PlanOptions& options, const Console& console) {
  auto profile = read_profile(options.profile);
  if (!profile) return Failure(profile.error());
  if (options.weight_grad_share) {
    profile = with_split_backward(*std::move(profile), *options.weight_grad_share);
    if (!profile) return Failure(profile.error());
  }
  auto plan = find_plan(options, *profile);
  if (!plan) return Failure(plan.error());
  if (options.weight_grad_share) {
    plan->notes.emplace_back("I and W that were not measured are assumed from --weight-grad-share");
  }
  return console.deliver(to_json(*plan), plan_text(*plan));
}

}  // namespace

Action plan_command(Flags& flags) {
  auto options = std::make_shared<PlanOptions>();
  flags.add_positional("PROFILE", text_into(options->profile),
                       "profile document; - is standard input");
  flags.add("--devices", "N", count_into(options->devices), "equal devices on one node");
  flags.add("--memory", "SIZE", bytes_into(options->memory), "of each: 80GiB (default: no limit)");
  flags.add("--bandwidth", "SPEED", bandwidth_into(options->bandwidth),
            "between two: 25GB/s (default: the profile's)");
  flags.add("--latency", "TIME", time_into(options->latency), "of a message: 5us");
  flags.add("--cluster", "FILE", text_into(options->cluster), "cluster document instead of these");
  flags.add("--micro-batches", "M", count_into(options->microbatches),
            "micro-batches of one iteration, or");
  flags.add("--global-batch", "N", count_into(options->global_batch),
            "its samples, M x the profile's micro-batch size");
  flags.add("--micro-batch", "N", count_into(options->micro_batch),
            "that size; must be the profile's");
  flags.add("--stages", "S", count_into(options->stages), "of all devices; default: all devices");
  flags.add("--virtual", "V", count_into(options->per_device),
            "stages per device (default: what the schedule is made for)");
  flags.add("--split", "LIST", counts_into(options->split),
            "layers of each stage, 3,1: explain this cut instead of searching");
  flags.add("--schedule", "NAME", text_into(options->schedule),
            "default 1f1b; all names: headrace --help");
  flags.add("--objective", "NAME",
            choice_into(options->objective, {"iteration-time", "bottleneck"}),
            "iteration-time (default: the simulated one) or bottleneck");
  flags.add("--memory-margin", "X", fraction_into(options->memory_margin),
            "share of each device's memory to leave free: 8%");
  flags.add("--weight-grad-share", "X", fraction_into(options->weight_grad_share),
            "W's share of backward where it was not measured: 50%");
  flags.add_example(
      "headrace plan profile.json --devices 4 --memory 80GiB --bandwidth 25GB/s --micro-batches 8");
  flags.add_example("headrace plan profile.json --devices 2 --global-batch 32 -o plan.json");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
