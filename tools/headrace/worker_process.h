// headrace-torch, the LibTorch worker: where it is, how it is started, what it says.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "executor/launcher.h"
#include "tools/headrace/console.h"

namespace headrace::cli {

/// $HEADRACE_TORCH_WORKER, or headrace-torch beside this program. Fails with kUnavailable, saying
/// how to get it.
Result<std::string> find_worker();

/// Runs the workers to their end with their progress as one bar. Fails as `run_workers`.
Result<std::vector<std::string>> run_with_progress(std::span<const Worker> workers,
                                                   Console& console);

/// What a worker wrote behind --out. Fails with kInternal where it ended well without it.
Result<std::string> read_worker_file(const std::string& path);

/// A folder for what is passed to workers; gone when this is.
class TemporaryFolder {
 public:
  /// Fails with kUnavailable where none can be made.
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace headrace::cli
