// Which rank of which world this process is, as torchrun, mpirun or srun tell it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/result.h"

namespace headrace {

struct RankEnvironment {
  std::string launcher;  ///< "torchrun", "mpirun", "srun", "mpiexec", or "environment".
  int rank = 0;
  int world = 1;
  int local_rank = 0;  ///< Among the ranks on this host.
  std::string master_address;
  int master_port = 0;
  bool agent_store = false;  ///< torchrun serves the store already: no rank may serve it again.
  int restart = 0;           ///< How often torchrun started this group anew.
  friend bool operator==(const RankEnvironment&, const RankEnvironment&) = default;
};

/// The value of an environment variable, nothing when it is not set or empty.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads, in this order of trust: RANK and WORLD_SIZE (torchrun), OMPI_COMM_WORLD_* (Open MPI),
/// SLURM_* inside a job step (srun), PMI_* (MPICH, Intel MPI). Nothing when none of them is set.
/// Without MASTER_ADDR and MASTER_PORT, srun's first host and a port from the job id are taken, and
/// the loopback with port 29500 where all ranks of mpirun share this host.
/// Fails with kUsage when a launcher's variables are half set, no numbers or out of range.
Result<std::optional<RankEnvironment>> rank_environment(const EnvironmentLookup& lookup);

/// Looks up this process's environment.
EnvironmentLookup process_environment();

}  // namespace headrace
