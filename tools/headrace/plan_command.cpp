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
#include "tools/headrace/plan_grid.h"
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
  std::optional<int> data;
  std::vector<std::string> more_profiles;
  std::optional<int> microbatches;
  std::optional<int> global_batch;
  std::optional<int> micro_batch;
  std::vector<std::string> schedules;
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

/// What is fixed before the search, with the schedule that scores every cut.
struct Preparation {
  PlanRequest request;
  Schedule schedule;
};

Result<Preparation> prepare(const PlanOptions& options, const Profile& profile,
                            const Cluster& cluster) {
  const auto microbatches = microbatches_for(options, profile);
  if (!microbatches) return Failure(microbatches.error());
  const auto named = schedule_request_from_text(options.schedules.front());
  if (!named) return Failure(named.error());
  const auto per_device = stages_per_device(options, *named);
  if (!per_device) return Failure(per_device.error());
  const auto stages = stages_for(options, cluster, *per_device);
  if (!stages) return Failure(stages.error());
  auto schedule =
      generated_schedule(options.schedules.front(),
                         {.stages = *stages, .devices = *stages / *per_device}, *microbatches);
  if (!schedule) return Failure(schedule.error());
  if (schedule->pipelines > 1 || schedule->pieces > 1) {
    return usage(
        fmt::format("'{}' runs {}; plans are made for one replica of whole micro-batches",
                    named->name, schedule->pipelines > 1 ? "two replicas" : "pieces of sequences"),
        "--schedule",
        "plan with 1f1b, then headrace simulate PLAN --schedule " + std::string(named->name));
  }
  PlanRequest request = request_for(*schedule, profile.micro_batch_size);
  request.schedule = named->name;
  request.schedule_parameters = named->parameters;
  request.objective = options.objective;
  request.memory_margin = options.memory_margin.value_or(0);
  request.layers_per_stage = options.split;
  return Preparation{std::move(request), *std::move(schedule)};
}

/// One schedule on all devices: only the cut is searched.
Result<Plan> find_cut(const PlanOptions& options, const Profile& profile, const Cluster& cluster) {
  const auto prepared = prepare(options, profile, cluster);
  if (!prepared) return Failure(prepared.error());
  const PlanScorer scorer = [&](const Plan& plan) -> Result<Seconds> {
    const auto input = simulation_input(plan, prepared->schedule);
    if (!input) return Failure(input.error());
    return simulated_iteration(*input);
  };
  return make_plan(profile, cluster, prepared->request, scorer);
}

/// True where more is left to choose than the cut.
bool is_open(const PlanOptions& options) {
  if (options.data || options.schedules.size() > 1 || !options.more_profiles.empty()) return true;
  return options.schedules.empty() && options.global_batch && !options.microbatches &&
         !options.stages && options.split.empty();
}

Result<void> check_open(const PlanOptions& options) {
  if (!options.global_batch) {
    return usage(
        "with replicas, micro-batch sizes or schedules to choose from, the global batch "
        "must be given",
        "--global-batch", "add --global-batch 512 instead of --micro-batches");
  }
  if (options.microbatches) {
    return usage("the number of micro-batches follows from the global batch", "--micro-batches",
                 "drop it");
  }
  if (!options.split.empty()) {
    return usage("a given cut leaves nothing else open", "--split",
                 "drop --split, or give one --schedule and no --data");
  }
  return {};
}

Result<Plan> find_in_grid(const PlanOptions& options, std::vector<Profile> profiles,
                          const Cluster& cluster) {
  if (auto ok = check_open(options); !ok) return Failure(ok.error());
  if (options.micro_batch) {
    std::erase_if(profiles, [&](const Profile& profile) {
      return profile.micro_batch_size != *options.micro_batch;
    });
    if (profiles.empty()) {
      return usage(fmt::format("no profile has micro-batches of {}", *options.micro_batch),
                   "--micro-batch", "profile with that size and add --profile FILE");
    }
  }
  GridWish wish{.global_batch = *options.global_batch,
                .schedules = options.schedules,
                .stages = options.stages,
                .per_device = options.per_device,
                .data = options.data,
                .objective = options.objective,
                .memory_margin = options.memory_margin.value_or(0)};
  if (wish.schedules == std::vector<std::string>{"all"}) wish.schedules.clear();
  return plan_over_grid(wish, profiles, cluster);
}

/// The cut was scored under an order that was searched for equal stages; its own order is another
/// one, for which neither a proof nor a bound by simulation holds.
void search_anew(Plan& plan) {
  const bool by_time = plan.objective != "bottleneck";
  const Seconds iteration = plan.predicted->iteration;
  plan.notes.push_back(
      fmt::format("the order of '{}' was searched anew for the stages of this cut: it takes {}",
                  plan.schedule, to_text(iteration)));
  if (!by_time) return;
  plan.exact = false;
  plan.bound = std::min(plan.bound, iteration);
  plan.gap = plan.bound > Seconds{0} ? ratio(iteration, plan.bound) - 1 : 0;
}

Result<Plan> find_plan(PlanOptions options, const std::vector<Profile>& profiles) {
  std::string link_note;
  const auto cluster = cluster_for(options, profiles.front(), link_note);
  if (!cluster) return Failure(cluster.error());
  const bool all = options.schedules == std::vector<std::string>{"all"};
  const bool open = all || is_open(options);
  if (options.schedules.empty() && !open) options.schedules = {"1f1b"};
  auto plan = open ? find_in_grid(options, profiles, *cluster)
                   : find_cut(options, profiles.front(), *cluster);
  if (!plan) return plan;
  // A searched schedule was looked for among equal stages so far; now their costs are known.
  const auto scheduled = schedule_plan(*plan, {});
  if (!scheduled) return Failure(scheduled.error());
  const auto predicted = simulate_plan(*scheduled);
  if (!predicted) return Failure(predicted.error());
  plan->predicted = predicted->report;
  if (looks_at_costs(plan->schedule)) search_anew(*plan);
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].fingerprint != plan->inputs.profile_fingerprint) continue;
    plan->inputs.profile_file = i == 0 ? options.profile : options.more_profiles[i - 1];
    break;
  }
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

/// The profiles of one model, one per micro-batch size.
Result<std::vector<Profile>> read_profiles(const PlanOptions& options) {
  std::vector<Profile> profiles;
  std::vector<std::string> files = {options.profile};
  files.insert(files.end(), options.more_profiles.begin(), options.more_profiles.end());
  for (const std::string& file : files) {
    auto profile = read_profile(file);
    if (!profile) return Failure(profile.error());
    if (options.weight_grad_share) {
      profile = with_split_backward(*std::move(profile), *options.weight_grad_share);
      if (!profile) return Failure(profile.error());
    }
    const bool same_model = profiles.empty() || profile->model.name == profiles[0].model.name;
    const bool known = std::ranges::any_of(profiles, [&](const Profile& other) {
      return other.micro_batch_size == profile->micro_batch_size;
    });
    if (!same_model || known) {
      return usage(!same_model ? fmt::format("{} is of '{}', not of '{}'", file,
                                             profile->model.name, profiles[0].model.name)
                               : fmt::format("two profiles have micro-batches of {}",
                                             profile->micro_batch_size),
                   "--profile", "give profiles of one model, one per micro-batch size");
    }
    profiles.push_back(*std::move(profile));
  }
  return profiles;
}

Result<void> run(const PlanOptions& options, const Console& console) {
  const auto profiles = read_profiles(options);
  if (!profiles) return Failure(profiles.error());
  auto plan = find_plan(options, *profiles);
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
  flags.add("--data", "D", count_into(options->data), "replicas; default: chosen");
  flags.add("--schedule", "NAMES", words_into(options->schedules),
            "one, several or all; default: chosen, 1f1b with --micro-batches");
  flags.add_repeatable("--profile", "FILE", texts_into(options->more_profiles),
                       "the same model at another micro-batch size, to choose from");
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
