#include "executor/launcher.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include "core/json/documents.h"

TEST_SUITE_BEGIN("executor/launcher");

namespace headrace::testing {
namespace {

Worker shell(std::string name, std::string script) {
  return {.name = std::move(name), .arguments = {"/bin/sh", "-c", std::move(script)}};
}

/// Prints an error document and ends with its status, as a worker does.
Worker failing(std::string name, const Error& error, std::string before = "") {
  Worker worker = shell(std::move(name), before + "printf %s \"$DOCUMENT\"; exit " +
                                             std::to_string(exit_status(error.code)));
  worker.environment["DOCUMENT"] = to_json(error);
  return worker;
}

const LaunchOptions kQuiet{.grace = Seconds{0.5}, .on_line = [](int, std::string_view) {}};

/// A file in the temporary folder that is gone afterwards.
struct TemporaryFile {
  TemporaryFile()
      : path(std::filesystem::temp_directory_path() /
             fmt::format("headrace_launcher_test_{}", ::getpid())) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

/// True when the process is gone or soon goes.
bool ends_soon(pid_t pid) {
  for (int tries = 0; tries < 200; ++tries) {
    if (::kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("the outputs of all workers are returned in order") {
  const std::vector<Worker> workers{shell("rank 0", "sleep 0.1; echo zero"),
                                    shell("rank 1", "echo one")};
  const auto outputs = run_workers(workers, kQuiet);
  REQUIRE(outputs.has_value());
  CHECK(*outputs == std::vector<std::string>{"zero\n", "one\n"});
}

TEST_CASE("a worker killed by signal 9 is named and out of memory is suspected") {
  const std::vector<Worker> workers{shell("rank 0", "sleep 60"), shell("rank 1", "kill -9 $$")};
  const auto outputs = run_workers(workers, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kTimeout);
  CHECK(outputs.error().what == "rank 1 died: killed by signal 9 (out of memory?)");
}

TEST_CASE("a crash is an error of ours and names the signal") {
  const auto outputs = run_workers(std::vector{shell("rank 0", "kill -SEGV $$")}, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kInternal);
  CHECK(outputs.error().what == "rank 0 crashed: signal 11 (Segmentation fault)");
}

TEST_CASE("a worker's own error document is returned") {
  const Error told{
      .code = ErrorCode::kBadInput, .what = "bad plan", .where = "plan", .fix = "mend"};
  const auto outputs = run_workers(std::vector{failing("rank 0", told)}, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kBadInput);
  CHECK(outputs.error().what == "bad plan");
}

TEST_CASE("an exit status without a document is named") {
  const auto outputs = run_workers(std::vector{shell("rank 0", "exit 3")}, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kInternal);
  CHECK(outputs.error().what == "rank 0 ended with exit status 3 and no error document");
}

TEST_CASE("the rank that only lost its peer is not blamed although it ended first") {
  const Error lost{.code = ErrorCode::kTimeout,
                   .what = "rank 0 lost rank 1 while it waited for 0RECV_B0: Connection closed",
                   .where = "rank 0",
                   .fix = "read on"};
  const Error cause{
      .code = ErrorCode::kInfeasible, .what = "out of memory", .where = "rank 1", .fix = "less"};
  const std::vector<Worker> workers{failing("rank 0", lost),
                                    failing("rank 1", cause, "sleep 0.1; ")};
  const auto outputs = run_workers(workers, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().what == "out of memory");
}

TEST_CASE("a worker that ignores SIGTERM and its children do not survive another's death") {
  const TemporaryFile pids;
  const std::vector<Worker> workers{
      shell("rank 0", fmt::format("trap '' TERM; sleep 60 & echo $! > {0}; echo $$ >> {0}; wait; "
                                  "sleep 60",
                                  pids.path.string())),
      shell("rank 1",
            fmt::format("while [ ! -s {} ]; do sleep 0.02; done; exit 1", pids.path.string()))};
  const auto outputs = run_workers(workers, kQuiet);
  CHECK_FALSE(outputs.has_value());
  std::ifstream file(pids.path);
  int count = 0;
  for (pid_t pid = 0; file >> pid; ++count) CHECK(ends_soon(pid));
  CHECK(count == 2);
}

TEST_CASE("a run beyond its time limit ends and names who still ran") {
  LaunchOptions options = kQuiet;
  options.time_limit = Seconds{0.2};
  const std::vector<Worker> workers{shell("rank 0", "true"), shell("rank 1", "sleep 60")};
  const auto outputs = run_workers(workers, options);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kTimeout);
  CHECK(outputs.error().what == "rank 1 still runs after 0.2 s");
}

TEST_CASE("SIGINT to us ends the workers and is said") {
  // The worker plays the user.
  const std::vector<Worker> workers{
      shell("rank 0", fmt::format("kill -INT {}; sleep 60", ::getpid()))};
  const auto outputs = run_workers(workers, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kInterrupted);
}

TEST_CASE("a program that does not exist is unavailable and nothing is left running") {
  const std::vector<Worker> workers{shell("rank 0", "sleep 60"),
                                    {.name = "rank 1", .arguments = {"/no/such/program"}}};
  const auto outputs = run_workers(workers, kQuiet);
  REQUIRE_FALSE(outputs.has_value());
  CHECK(outputs.error().code == ErrorCode::kUnavailable);
  CHECK(outputs.error().what == "cannot start: No such file or directory");
  CHECK(outputs.error().where == "/no/such/program");
}

TEST_CASE("progress lines are told apart from other lines") {
  std::vector<std::string> seen;
  LaunchOptions options;
  options.on_progress = [&](const WorkerProgress& progress) {
    seen.push_back(
        fmt::format("{}: {}/{} {}", progress.worker, progress.done, progress.total, progress.text));
  };
  options.on_line = [&](int worker, std::string_view line) {
    seen.push_back(fmt::format("{}: {}", worker, line));
  };
  const auto outputs =
      run_workers(std::vector{shell("rank 0",
                                    "echo progress 3 10 iteration 3 >&2; echo progress soon >&2; "
                                    "printf unfinished >&2")},
                  options);
  REQUIRE(outputs.has_value());
  CHECK(seen ==
        std::vector<std::string>{"0: 3/10 iteration 3", "0: progress soon", "0: unfinished"});
}

TEST_CASE("a megabyte of output on both streams does not block") {
  const auto outputs = run_workers(std::vector{shell("rank 0",
                                                     "head -c 1000000 /dev/zero | tr '\\0' x; "
                                                     "head -c 1000000 /dev/zero | tr '\\0' y >&2")},
                                   kQuiet);
  REQUIRE(outputs.has_value());
  CHECK((*outputs)[0].size() == 1'000'000);
}

TEST_CASE("workers see the variables given to them and read nothing") {
  Worker worker = shell("rank 0", "printf '%s' \"$HEADRACE_TEST\"; cat");
  worker.environment["HEADRACE_TEST"] = "seen";
  const auto outputs = run_workers(std::vector{worker}, kQuiet);
  REQUIRE(outputs.has_value());
  CHECK((*outputs)[0] == "seen");
}

}  // namespace headrace::testing
