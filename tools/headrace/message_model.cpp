#include "tools/headrace/message_model.h"

#include <utility>

#include "simulator/uncertainty.h"

namespace headrace::cli {
namespace {

CommunicationStreams streams_of(const std::string& name) {
  if (name == "shared") return CommunicationStreams::kShared;
  if (name == "per-direction") return CommunicationStreams::kPerDirection;
  return CommunicationStreams::kUnlimited;
}

}  // namespace

void add_simulation_flags(Flags& flags, SimulationChoice& choice) {
  flags.add("--communication", "NAME",
            choice_into(choice.communication, {"async", "blocking-recv", "rendezvous", "batched"}),
            "async (default), blocking-recv, rendezvous or batched");
  flags.add("--streams", "NAME",
            choice_into(choice.streams, {"unlimited", "per-direction", "shared"}),
            "messages in order: unlimited (default), per-direction or shared");
  flags.add("--replicas", "N", count_into(choice.replicas),
            "random iterations by the stages' spread: a 90 % band");
  flags.add("--seed", "N", count_into(choice.seed, 0), "of the replicas (default 0)");
}

Result<SimulationOutcome> simulate_chosen(SimulationInput input, const SimulationChoice& choice) {
  if (choice.seed && !choice.replicas) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = "a seed without replicas changes nothing",
                    .where = "--seed",
                    .fix = "add --replicas 200, or drop --seed"});
  }
  if (choice.communication == "batched" && choice.streams != "unlimited") {
    return Failure({.code = ErrorCode::kUsage,
                    .what = "the messages of a batch move together, not one after another",
                    .where = "--streams",
                    .fix = "drop --streams, or use another --communication"});
  }
  const auto semantics = semantics_from_name(choice.communication);
  input.communication.semantics = semantics.value_or(CommunicationSemantics::kAsync);
  input.communication.streams = streams_of(choice.streams);
  auto outcome = simulate(input);
  if (!outcome || !choice.replicas) return outcome;
  const auto band = iteration_band(
      input,
      {.replicas = *choice.replicas, .seed = static_cast<std::uint64_t>(choice.seed.value_or(0))});
  if (!band) return Failure(band.error());
  outcome->report.band = *band;
  return outcome;
}

}  // namespace headrace::cli
