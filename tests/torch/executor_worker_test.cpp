#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include "core/files.h"
#include "core/json/documents.h"
#include "executor/host.h"
#include "executor/launcher.h"
#include "tests/support/plan_builders.h"

TEST_SUITE_BEGIN("tools/headrace-torch/run_command");

namespace headrace::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchedule = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";

/// A folder with a plan and its schedule, gone afterwards.
struct RunFolder {
  RunFolder()
      : path(fs::temp_directory_path() / fmt::format("headrace_worker_test_{}", ::getpid())) {
    fs::create_directories(path);
    REQUIRE(write_text(file("plan.json"), to_json(runnable_plan(tiny_gpt(), 2, 2))).has_value());
    REQUIRE(write_text(file("schedule.csv"), kSchedule).has_value());
  }
  ~RunFolder() { fs::remove_all(path); }
  [[nodiscard]] std::string file(const std::string& name) const { return path / name; }
  fs::path path;
};

std::vector<Worker> two_ranks(const RunFolder& folder) {
  const auto port = free_port();
  REQUIRE(port.has_value());
  std::vector<Worker> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Worker worker{.name = fmt::format("rank {}", rank),
                  .arguments = {HEADRACE_WORKER,  "run",
                                "--plan",         folder.file("plan.json"),
                                "--schedule-csv", folder.file("schedule.csv"),
                                "--rank",         std::to_string(rank),
                                "--world",        "2",
                                "--store",        fmt::format("127.0.0.1:{}", *port),
                                "--iterations",   "4",
                                "--warmup",       "1",
                                "--numerics",     "--progress",
                                "--out",          folder.file("measured.json")}};
    ranks.push_back(std::move(worker));
  }
  return ranks;
}

/// Gives a flag that the worker has already another value.
void replace(Worker& worker, std::string_view flag, std::string value) {
  const auto at = std::ranges::find(worker.arguments, flag);
  REQUIRE(at != worker.arguments.end());
  *(at + 1) = std::move(value);
}

}  // namespace

TEST_CASE("two processes over Gloo agree with the unsplit model and write one timeline") {
  const RunFolder folder;
  std::vector<std::string> lines;
  int progress = 0;
  const auto outputs =
      run_workers(two_ranks(folder),
                  {.on_progress = [&](const WorkerProgress& now) { progress = now.done; },
                   .on_line = [&](int, std::string_view line) { lines.emplace_back(line); }});
  REQUIRE_MESSAGE(outputs.has_value(), (outputs ? "" : to_string(outputs.error())));
  CHECK(progress == 5);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("numerics: loss"));
  const auto timeline =
      timeline_from_json(*read_text(folder.file("measured.json")), "measured.json");
  REQUIRE_MESSAGE(timeline.has_value(), (timeline ? "" : to_string(timeline.error())));
  CHECK(timeline->source == TimelineSource::kMeasured);
  CHECK(timeline->iterations.size() == 4);
}

TEST_CASE("a rank that ends in the middle is a named error and no file is written") {
  const RunFolder folder;
  auto ranks = two_ranks(folder);
  for (Worker& rank : ranks) replace(rank, "--iterations", "1000000");
  // The shell leaves its number behind and becomes the worker.
  std::string command = "echo $$ > '" + folder.file("pid") + "'; exec";
  for (const std::string& argument : ranks[1].arguments) command += " '" + argument + "'";
  ranks[1].arguments = {"/bin/sh", "-c", command};
  const auto kill_second = [&](const WorkerProgress& now) {
    if (now.done == 3) ::kill(std::stoi(*read_text(folder.file("pid"))), SIGKILL);
  };
  const auto outputs =
      run_workers(ranks, {.on_progress = kill_second, .on_line = [](int, std::string_view) {}});
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().what == "rank 1 died: killed by signal 9 (out of memory?)");
  CHECK_FALSE(fs::exists(folder.file("measured.json")));
}

TEST_CASE("a plan that is not there is the worker's own error") {
  const RunFolder folder;
  fs::remove(folder.path / "plan.json");
  const auto outputs = run_workers(two_ranks(folder), {.on_line = [](int, std::string_view) {}});
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kBadInput);
  CHECK(outputs.error().where == folder.file("plan.json"));
}

TEST_CASE("a wrong address is a usage error") {
  const RunFolder folder;
  auto ranks = two_ranks(folder);
  for (Worker& rank : ranks) replace(rank, "--store", "nowhere");
  const auto outputs = run_workers(ranks, {.on_line = [](int, std::string_view) {}});
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kUsage);
  CHECK(outputs.error().what == "'nowhere' is no address");
}

TEST_CASE("the link between two processes is measured and has a plausible speed") {
  const RunFolder folder;
  const auto outputs = run_workers(
      std::vector<Worker>{
          {.name = "link",
           .arguments = {HEADRACE_WORKER, "link", "--out", folder.file("link.json")}}},
      {.on_line = [](int, std::string_view) {}});
  REQUIRE_MESSAGE(outputs.has_value(), (outputs ? "" : to_string(outputs.error())));
  const auto cluster = cluster_from_json(*read_text(folder.file("link.json")), "link.json");
  REQUIRE(cluster.has_value());
  CHECK(cluster->intra_node.latency.value() < 0.1);
  CHECK(cluster->intra_node.bandwidth.value() > 1e6);
}

}  // namespace headrace::testing
