#include "tools/headrace/worker_process.h"

#include <cstdlib>
#include <system_error>

#include <fmt/core.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/files.h"

namespace headrace::cli {
namespace {

constexpr const char* kWorkerVariable = "HEADRACE_TORCH_WORKER";

Failure unavailable(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUnavailable,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

}  // namespace

Result<std::string> find_worker() {
  if (const char* const named = std::getenv(kWorkerVariable); named != nullptr && *named != '\0') {
    if (::access(named, X_OK) == 0) return std::string(named);
    return unavailable(fmt::format("'{}' is no program that can be started", named),
                       kWorkerVariable, "name the path of headrace-torch, or unset it");
  }
  std::error_code problem;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
  const std::string beside = (self.parent_path() / "headrace-torch").string();
  if (!problem && ::access(beside.c_str(), X_OK) == 0) return beside;
  return unavailable(
      "this command needs headrace-torch, the LibTorch worker, which is not here", beside,
      fmt::format("run tools/install_torch.sh and build again, or set {}", kWorkerVariable));
}

Result<std::vector<std::string>> run_with_progress(std::span<const Worker> workers,
                                                   Console& console) {
  for (const Worker& worker : workers) {
    console.detail(fmt::format("{}: {}", worker.name, fmt::join(worker.arguments, " ")));
  }
  LaunchOptions options;
  options.on_progress = [&](const WorkerProgress& progress) {
    // All ranks do the same iterations; the first one speaks for all.
    if (progress.worker == 0) console.progress(progress.done, progress.total, progress.text);
  };
  auto outputs = run_workers(workers, options);
  console.end_progress();
  return outputs;
}

Result<std::string> read_worker_file(const std::string& path) {
  auto text = read_text(path);
  if (text) return text;
  return Failure({.code = ErrorCode::kInternal,
                  .what = "the worker ended well and left no " +
                          std::filesystem::path(path).filename().string(),
                  .where = "headrace-torch",
                  .fix = "build headrace and headrace-torch from the same version"});
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code problem;
  const auto parent = std::filesystem::temp_directory_path(problem);
  std::string path = (parent / "headrace-XXXXXX").string();
  if (problem || ::mkdtemp(path.data()) == nullptr) {
    return unavailable("cannot make a temporary folder", parent.string(),
                       "set TMPDIR to a folder that is writable");
  }
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // what a crashed disk keeps is not worth failing a finished run
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace headrace::cli
