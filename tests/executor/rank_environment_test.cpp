#include "executor/rank_environment.h"

#include <map>

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("executor/rank_environment");

namespace headrace::testing {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<RankEnvironment>> read(const Variables& variables) {
  return rank_environment([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

RankEnvironment found(const Variables& variables) {
  const auto result = read(variables);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : to_string(result.error())));
  REQUIRE(result->has_value());
  return **result;
}

Error refused(const Variables& variables) {
  const auto result = read(variables);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::kUsage);
  return result.error();
}

const Variables kTorchrun{{"RANK", "5"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"MASTER_ADDR", "10.0.0.7"},
                          {"MASTER_PORT", "29400"},
                          {"TORCHELASTIC_RUN_ID", "none"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"}};

const Variables kSrun{{"SLURM_STEP_ID", "0"},        {"SLURM_PROCID", "3"},
                      {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_NTASKS", "16"},
                      {"SLURM_LOCALID", "1"},        {"SLURM_STEP_NODELIST", "gpu[07-08],login1"},
                      {"SLURM_JOB_ID", "1234567"}};

const Variables kMpirun{{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "2"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

}  // namespace

TEST_CASE("no launcher means no rank") {
  REQUIRE(read({}).has_value());
  CHECK_FALSE(read({})->has_value());
  CHECK_FALSE(read({{"MASTER_ADDR", "somewhere"}, {"LOCAL_RANK", "0"}})->has_value());
}

TEST_CASE("torchrun tells everything and serves the store") {
  CHECK(found(kTorchrun) == RankEnvironment{.launcher = "torchrun",
                                            .rank = 5,
                                            .world = 8,
                                            .local_rank = 1,
                                            .master_address = "10.0.0.7",
                                            .master_port = 29400,
                                            .agent_store = true,
                                            .restart = 2});
}

TEST_CASE("the plain variables work without torchrun and nobody serves the store for us") {
  const auto rank = found(
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1234"}});
  CHECK(rank.launcher == "environment");
  CHECK_FALSE(rank.agent_store);
  CHECK(rank.local_rank == 0);
}

TEST_CASE("srun counts the step and not the job and the first host is the master") {
  CHECK(found(kSrun) == RankEnvironment{.launcher = "srun",
                                        .rank = 3,
                                        .world = 4,
                                        .local_rank = 1,
                                        .master_address = "gpu07",
                                        .master_port = 15000 + 1234567 % 20000});
}

TEST_CASE("host lists of Slurm in every form name their first host") {
  for (const auto& [list, first] : Variables{{"node1", "node1"},
                                             {"node1,node2", "node1"},
                                             {"node[3,5]", "node3"},
                                             {"n-a[01-02],n-b", "n-a01"},
                                             {"alone,node[3-5]", "alone"}}) {
    CHECK(found(with(kSrun, "SLURM_STEP_NODELIST", list)).master_address == first);
  }
}

TEST_CASE("a plain Slurm allocation starts no ranks") {
  CHECK_FALSE(read(without(kSrun, "SLURM_STEP_ID"))->has_value());
}

TEST_CASE("mpirun on one host meets on the loopback") {
  CHECK(found(kMpirun) == RankEnvironment{.launcher = "mpirun",
                                          .rank = 1,
                                          .world = 2,
                                          .local_rank = 1,
                                          .master_address = "127.0.0.1",
                                          .master_port = 29500});
}

TEST_CASE("mpirun on several hosts needs the master's address") {
  const Error error = refused(with(kMpirun, "OMPI_COMM_WORLD_LOCAL_SIZE", "1"));
  CHECK(error.where == "environment variable MASTER_ADDR");
  CHECK(error.what == "not set, and mpirun names no common host");
  CHECK(error.fix == "set MASTER_ADDR and MASTER_PORT for all 2 ranks");
}

TEST_CASE("PMI is the last resort") {
  const Variables pmi{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}};
  CHECK(found(pmi).launcher == "mpiexec");
  Variables both = pmi;
  both.insert(kMpirun.begin(), kMpirun.end());
  CHECK(found(both).launcher == "mpirun");
  both.insert(kTorchrun.begin(), kTorchrun.end());
  CHECK(found(both).launcher == "torchrun");
}

TEST_CASE("half-set environments are errors that name the missing half") {
  CHECK(refused(without(kTorchrun, "WORLD_SIZE")).what == "not set, but RANK is");
  CHECK(refused(without(kTorchrun, "RANK")).where == "environment variable RANK");
  CHECK(refused(without(kTorchrun, "MASTER_ADDR")).where == "environment variable MASTER_ADDR");
  CHECK(refused(without(kTorchrun, "MASTER_PORT")).where == "environment variable MASTER_PORT");
  CHECK(refused(without(kMpirun, "OMPI_COMM_WORLD_SIZE")).fix ==
        "start with mpirun, or unset both");
}

TEST_CASE("numbers that are none or out of range are errors") {
  CHECK(refused(with(kTorchrun, "RANK", "five")).what == "'five' is no number from 0 to 7");
  CHECK(refused(with(kTorchrun, "RANK", "8")).what == "'8' is no number from 0 to 7");
  CHECK(refused(with(kTorchrun, "RANK", "1 ")).what == "'1 ' is no number from 0 to 7");
  CHECK(refused(with(kTorchrun, "WORLD_SIZE", "0")).what == "'0' is no number from 1 to 1000000");
  CHECK(refused(with(kTorchrun, "LOCAL_RANK", "-1")).what == "'-1' is no number from 0 to 7");
  CHECK(refused(with(kTorchrun, "MASTER_PORT", "99999")).what ==
        "'99999' is no number from 1 to 65535");
}

}  // namespace headrace::testing
