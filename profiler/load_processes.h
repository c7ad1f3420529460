// Other cores at work while one is measured, as they are when stages run side by side.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <sys/types.h>

#include "core/result.h"

namespace headrace {

/// Child processes that work until this is destroyed; they die with their parent however it ends.
class LoadProcesses {
 public:
  /// What a child does: it calls `ready` once its work goes on, and never returns.
  using Work = std::function<void(const std::function<void()>& ready)>;

  /// Forks one child for each core and waits until all are ready. To be called while this process
  /// has a single thread. Fails with kUnavailable where a child can't start or ends early.
  static Result<LoadProcesses> start(std::span<const int> processors, const Work& work);

  ~LoadProcesses();
  LoadProcesses(LoadProcesses&& other) noexcept;
  LoadProcesses& operator=(LoadProcesses&&) = delete;
  LoadProcesses(const LoadProcesses&) = delete;
  LoadProcesses& operator=(const LoadProcesses&) = delete;

  /// Fails with kUnavailable when a child has ended: what was measured was not under load.
  [[nodiscard]] Result<void> still_running() const;

 private:
  LoadProcesses() = default;

  std::vector<pid_t> children_;
};

}  // namespace headrace
