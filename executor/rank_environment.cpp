#include "executor/rank_environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace headrace {
namespace {

constexpr int kDefaultPort = 29500;
constexpr int kMostRanks = 1'000'000;

/// The names under which one launcher tells a rank its place.
struct Names {
  std::string_view launcher;
  std::string rank;
  std::string world;
  std::string local_rank;
  std::string local_world;
};

Failure wrong(const std::string& variable, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = "environment variable " + variable,
                  .fix = std::move(fix)});
}

Result<int> number_in(const EnvironmentLookup& lookup, const std::string& name, int low, int high) {
  const std::string text = lookup(name).value_or("");
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size() || number < low || number > high) {
    return wrong(name, fmt::format("'{}' is no number from {} to {}", text, low, high),
                 "let the launcher set it, or unset it");
  }
  return number;
}

Result<int> number_or(const EnvironmentLookup& lookup, const std::string& name, int fallback,
                      int low, int high) {
  if (!lookup(name)) return fallback;
  return number_in(lookup, name, low, high);
}

/// Rank, world and local rank under `names`; nothing when neither rank nor world is set.
Result<std::optional<RankEnvironment>> place(const EnvironmentLookup& lookup, const Names& names) {
  const bool has_rank = lookup(names.rank).has_value();
  const bool has_world = lookup(names.world).has_value();
  if (!has_rank && !has_world) return std::optional<RankEnvironment>{};
  if (has_rank != has_world) {
    const std::string& missing = has_rank ? names.world : names.rank;
    return wrong(missing, fmt::format("not set, but {} is", has_rank ? names.rank : names.world),
                 fmt::format("start with {}, or unset both", names.launcher));
  }
  RankEnvironment found{.launcher = std::string(names.launcher), .master_address = {}};
  const auto world = number_in(lookup, names.world, 1, kMostRanks);
  if (!world) return Failure(world.error());
  const auto rank = number_in(lookup, names.rank, 0, *world - 1);
  if (!rank) return Failure(rank.error());
  const auto local = number_or(lookup, names.local_rank, *rank, 0, *world - 1);
  if (!local) return Failure(local.error());
  found.world = *world;
  found.rank = *rank;
  found.local_rank = *local;
  return std::optional(found);
}

/// MASTER_ADDR and MASTER_PORT where they are set; `default_address` empty means there is none.
Result<RankEnvironment> with_master(const EnvironmentLookup& lookup, RankEnvironment found,
                                    const std::string& default_address, int default_port) {
  found.master_address = lookup("MASTER_ADDR").value_or(default_address);
  if (found.master_address.empty()) {
    return wrong("MASTER_ADDR", fmt::format("not set, and {} names no common host", found.launcher),
                 fmt::format("set MASTER_ADDR and MASTER_PORT for all {} ranks", found.world));
  }
  const auto port = number_or(lookup, "MASTER_PORT", default_port, 1, 65535);
  if (!port) return Failure(port.error());
  if (*port == 0) {
    return wrong("MASTER_PORT", "not set, but RANK, WORLD_SIZE and MASTER_ADDR are",
                 "set MASTER_PORT to a free port of that host");
  }
  found.master_port = *port;
  return found;
}

Result<RankEnvironment> torchrun(const EnvironmentLookup& lookup, RankEnvironment found) {
  found.launcher = lookup("TORCHELASTIC_RUN_ID") ? "torchrun" : "environment";
  found.agent_store = lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  const auto restart = number_or(lookup, "TORCHELASTIC_RESTART_COUNT", 0, 0, kMostRanks);
  if (!restart) return Failure(restart.error());
  found.restart = *restart;
  return with_master(lookup, std::move(found), "", 0);
}

/// mpirun and mpiexec: the loopback will do where every rank is on this host.
Result<RankEnvironment> message_passing(const EnvironmentLookup& lookup, const Names& names,
                                        RankEnvironment found) {
  const auto local_world = number_or(lookup, names.local_world, 0, 1, found.world);
  if (!local_world) return Failure(local_world.error());
  const bool one_host = *local_world == found.world;
  return with_master(lookup, std::move(found), one_host ? "127.0.0.1" : "", kDefaultPort);
}

/// "gpu[07-12,20],login1" -> "gpu07".
std::string first_host(std::string_view list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket == std::string_view::npos || comma < bracket) {
    return std::string(list.substr(0, comma));
  }
  const std::string_view inside = list.substr(bracket + 1);
  return fmt::format("{}{}", list.substr(0, bracket),
                     inside.substr(0, inside.find_first_of("-,]")));
}

/// All ranks of a job agree on a port without talking when it comes from the job id.
Result<RankEnvironment> slurm(const EnvironmentLookup& lookup, RankEnvironment found) {
  constexpr int kLowestPort = 15000;
  constexpr int kPorts = 20000;
  const auto job = number_or(lookup, "SLURM_JOB_ID", 0, 0, 2'000'000'000);
  if (!job) return Failure(job.error());
  return with_master(lookup, std::move(found),
                     first_host(lookup("SLURM_STEP_NODELIST").value_or("127.0.0.1")),
                     kLowestPort + *job % kPorts);
}

}  // namespace

Result<std::optional<RankEnvironment>> rank_environment(const EnvironmentLookup& lookup) {
  const Names from_torchrun{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
  const Names from_open_mpi{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
  const Names from_slurm{"srun", "SLURM_PROCID",
                         lookup("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS",
                         "SLURM_LOCALID", ""};
  const Names from_pmi{"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

  for (const Names& names : {from_torchrun, from_open_mpi, from_slurm, from_pmi}) {
    const bool is_slurm = names.launcher == from_slurm.launcher;
    // A plain allocation (salloc, sbatch) sets the counts, too; only srun starts ranks.
    if (is_slurm && !lookup("SLURM_STEP_ID")) continue;
    auto found = place(lookup, names);
    if (!found) return Failure(found.error());
    if (!*found) continue;
    RankEnvironment rank = **found;
    auto complete = names.launcher == from_torchrun.launcher ? torchrun(lookup, std::move(rank))
                    : is_slurm                               ? slurm(lookup, std::move(rank))
                               : message_passing(lookup, names, std::move(rank));
    if (!complete) return Failure(complete.error());
    return std::optional(std::move(*complete));
  }
  return std::optional<RankEnvironment>{};
}

EnvironmentLookup process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

}  // namespace headrace
