#include "tools/headrace/message_model.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "core/text.h"
#include "simulator/failures.h"
#include "simulator/link_contention.h"
#include "simulator/offload.h"
#include "simulator/recompute.h"

namespace headrace::cli {
namespace {

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

CommunicationStreams streams_of(const std::string& name) {
  if (name == "shared") return CommunicationStreams::kShared;
  if (name == "per-direction") return CommunicationStreams::kPerDirection;
  return CommunicationStreams::kUnlimited;
}

/// Flags that change nothing without another one.
Result<void> check_choice(const SimulationChoice& choice) {
  if (choice.seed && !choice.replicas && !choice.time_between_failures) {
    return usage("a seed without replicas changes nothing", "--seed",
                 "add --replicas 200, or drop --seed");
  }
  for (const auto& [slowdown, flag] :
       {std::pair{choice.straggler, "--straggler"}, std::pair{choice.slow_link, "--slow-link"}}) {
    if (slowdown.probability > 0 && !choice.replicas) {
      return usage("chances show only over many iterations", flag, "add --replicas 200");
    }
  }
  const bool failure_flag =
      choice.checkpoint_interval || choice.checkpoint_cost || choice.restart_cost;
  if (failure_flag && !choice.time_between_failures) {
    return usage("checkpoints and restarts cost only where devices fail", "--mtbf",
                 "add the mean time between failures of one device, like --mtbf 50000h");
  }
  if (choice.communication == "batched" && choice.streams != "unlimited") {
    return usage("the messages of a batch move together, not one after another", "--streams",
                 "drop --streams, or use another --communication");
  }
  return {};
}

/// Device d of the schedule stands where the input's stages say: in order of the cluster.
Result<void> add_contention(SimulationInput& input, const Cluster* cluster) {
  if (cluster == nullptr || cluster->devices.size() < input.schedule.rows.size()) {
    return usage("the links are not known, only the time of a message", "--contention",
                 "plan with --cluster FILE and simulate the plan, or drop --contention");
  }
  MessageTraffic traffic{.schedule = input.schedule};
  for (std::size_t d = 0; d < input.schedule.rows.size(); ++d) {
    traffic.place.push_back(input.place.empty() ? DeviceId{static_cast<int>(d)} : input.place[d]);
  }
  for (const StageCost& stage : input.stages) traffic.output.push_back(stage.output);
  share_links(*cluster, traffic, input.communication);
  return {};
}

void add_recompute(SimulationInput& input) {
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    StageCost& stage = input.stages[s];
    stage.recompute = stage.forward;
    stage.kept_input = is_first_stage(input.schedule, static_cast<int>(s))
                           ? Bytes{0}
                           : std::min(input.stages[s - 1].output, stage.saved_activation);
  }
  input.schedule =
      with_recompute(std::move(input.schedule), std::vector<bool>(input.stages.size(), true));
}

/// Every stage keeps waiting activations in host memory, or those that the schedule says.
Result<void> add_offload(SimulationInput& input, const std::optional<BytesPerSecond>& bandwidth) {
  const bool given = traits_of(input.schedule).copies;
  if (!bandwidth) {
    if (!given) return {};
    return usage("the schedule has OFFLOAD, but nothing says how fast the copies are", "--offload",
                 "add the bandwidth between device and host, like --offload 25GB/s");
  }
  const bool sizes_known = std::ranges::any_of(
      input.stages, [](const StageCost& stage) { return stage.saved_activation > Bytes{0}; });
  if (!sizes_known) {
    return usage("the sizes of the activations are not known", "--offload",
                 "simulate a plan that was made of a profile, or drop --offload");
  }
  if (!given) {
    input.schedule =
        with_offload(std::move(input.schedule), std::vector<bool>(input.stages.size(), true));
  }
  set_offload_times(input, *bandwidth);
  return {};
}

Result<Goodput> run_with_failures(const SimulationInput& input, const SimulationChoice& choice,
                                  Seconds iteration) {
  return goodput(iteration, {.time_between_failures = *choice.time_between_failures,
                             .devices = input.schedule.devices,
                             .checkpoint_interval = choice.checkpoint_interval.value_or(Seconds{0}),
                             .checkpoint_cost = choice.checkpoint_cost.value_or(Seconds{0}),
                             .restart_cost = choice.restart_cost.value_or(Seconds{0}),
                             .replicas = choice.replicas.value_or(200),
                             .seed = static_cast<std::uint64_t>(choice.seed.value_or(0))});
}

/// "1%,1.5": a probability and a factor.
ValueReader slowdown_into(Slowdown& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    const std::size_t comma = text.find(',');
    std::optional<double> probability;
    double factor = 0;
    if (comma != std::string::npos) {
      if (auto ok = fraction_into(probability)(text.substr(0, comma), where); !ok) return ok;
      const char* const last = text.data() + text.size();
      const auto [end, error] = std::from_chars(text.data() + comma + 1, last, factor);
      if (error != std::errc{} || end != last) factor = 0;
    }
    if (!probability || !(factor >= 1) || factor > 1e6) {
      return usage(fmt::format("'{}' is no chance and factor", text), where,
                   "write 1%,1.5: with 1 % probability 1.5 times as slow");
    }
    target = {.probability = *probability, .factor = factor};
    return {};
  };
}

/// A number of at least 1.
ValueReader factor_into(std::optional<double>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    double factor = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, factor);
    if (error != std::errc{} || end != last || !(factor >= 1) || factor > 1e6) {
      return usage(fmt::format("'{}' is no factor of at least 1", text), where, "write 1.1");
    }
    target = factor;
    return {};
  };
}

}  // namespace

Result<SimulationInput> chosen_input(SimulationInput input, const SimulationChoice& choice,
                                     const Cluster* cluster) {
  const auto semantics = semantics_from_name(choice.communication);
  input.communication.semantics = semantics.value_or(CommunicationSemantics::kAsync);
  input.communication.streams = streams_of(choice.streams);
  input.communication.compute_slowdown = choice.slowdown.value_or(1);
  if (choice.overlap_share) input.overlap_share = choice.overlap_share;
  if (choice.contention) {
    if (auto ok = add_contention(input, cluster); !ok) return Failure(ok.error());
  }
  if (choice.recompute) add_recompute(input);
  if (auto ok = add_offload(input, choice.offload); !ok) return Failure(ok.error());
  if (choice.explain.empty()) return input;
  input.explain = action_from_text(choice.explain);
  if (input.explain && is_compute(input.explain->kind)) return input;
  return usage(fmt::format("'{}' is no action of a stage", choice.explain), "--explain",
               "write a stage, F, B, I or W, and a micro-batch: 2F5");
}

void add_simulation_flags(Flags& flags, SimulationChoice& choice) {
  flags.add("--communication", "NAME",
            choice_into(choice.communication, {"async", "blocking-recv", "rendezvous", "batched"}),
            "async (default), blocking-recv, rendezvous or batched");
  flags.add("--replicas", "N", count_into(choice.replicas),
            "random iterations by the stages' spread: a 90 % band");
  flags.add("--explain", "ACTION", text_into(choice.explain), "why it starts when it does: 2F5");
  flags.add_switch("--recompute", choice.recompute,
                   "keep only each stage's input; its forward runs again before its backward");
  flags.begin_subject("messages and links");
  flags.add("--streams", "NAME",
            choice_into(choice.streams, {"unlimited", "per-direction", "shared"}),
            "messages in order: unlimited (default), per-direction or shared");
  flags.add_switch("--contention", choice.contention,
                   "messages share the cluster's links and network cards, max-min fair");
  flags.add("--slowdown", "X", factor_into(choice.slowdown),
            "compute takes X times as long while its device communicates: 1.1");
  flags.add("--overlap", "X", fraction_into(choice.overlap_share),
            "an overlapped F and B takes this share of F + B: 80%");
  flags.begin_subject("memory");
  flags.add("--offload", "BANDWIDTH", bandwidth_into(choice.offload),
            "waiting activations go to host memory and back: 25GB/s each way");
  flags.begin_subject("chance");
  flags.add("--seed", "N", count_into(choice.seed, 0), "of the replicas (default 0)");
  flags.add("--straggler", "P,X", slowdown_into(choice.straggler),
            "each iteration a device is X times as slow with this chance: 1%,1.5");
  flags.add("--slow-link", "P,X", slowdown_into(choice.slow_link),
            "the same for the messages over a border between stages");
  flags.add("--mtbf", "TIME", time_into(choice.time_between_failures),
            "mean time between failures of one device: what a long run loses");
  flags.add("--checkpoint-every", "TIME", time_into(choice.checkpoint_interval),
            "of useful work (default: the best interval)");
  flags.add("--checkpoint-cost", "TIME", time_into(choice.checkpoint_cost),
            "for which the run stands still (default 0)");
  flags.add("--restart-cost", "TIME", time_into(choice.restart_cost),
            "from a failure to the next iteration (default 0)");
}

Result<SimulationOutcome> simulate_chosen(SimulationInput input, const SimulationChoice& choice,
                                          const Cluster* cluster) {
  if (auto ok = check_choice(choice); !ok) return Failure(ok.error());
  const auto chosen = chosen_input(std::move(input), choice, cluster);
  if (!chosen) return Failure(chosen.error());
  return simulate_as_chosen(*chosen, choice);
}

Result<SimulationOutcome> simulate_as_chosen(const SimulationInput& input,
                                             const SimulationChoice& choice) {
  if (auto ok = check_choice(choice); !ok) return Failure(ok.error());
  auto outcome = simulate(input);
  if (!outcome) return outcome;
  if (choice.replicas) {
    const auto band =
        iteration_band(input, {.replicas = *choice.replicas,
                               .seed = static_cast<std::uint64_t>(choice.seed.value_or(0)),
                               .straggler = choice.straggler,
                               .slow_link = choice.slow_link});
    if (!band) return Failure(band.error());
    outcome->report.band = *band;
  }
  if (choice.time_between_failures) {
    const auto lost = run_with_failures(input, choice, outcome->report.iteration);
    if (!lost) return Failure(lost.error());
    outcome->report.goodput = *lost;
  }
  return outcome;
}

}  // namespace headrace::cli
