// Starts worker processes on this host, watches them, and leaves none behind.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace headrace {

/// One process to start.
struct Worker {
  std::string name;                    ///< For messages: "rank 1", "the profiling worker".
  std::vector<std::string> arguments;  ///< The first is the program's path.
  std::map<std::string, std::string> environment = {};  ///< Added to our own.
};

/// A worker's line "progress DONE TOTAL TEXT" on standard error.
struct WorkerProgress {
  int worker = 0;  ///< Position in the list of workers.
  int done = 0;
  int total = 0;
  std::string text;
};

struct LaunchOptions {
  Seconds grace{2};                        ///< Between SIGTERM and SIGKILL.
  std::optional<Seconds> time_limit = {};  ///< Of the whole run; absent: none.
  std::function<void(const WorkerProgress&)> on_progress = {};
  /// Every other line of standard error; absent: passed on to our standard error with the name.
  std::function<void(int worker, std::string_view line)> on_line = {};
};

/// Runs all workers to their end and returns what each wrote on standard output.
///
/// Each worker leads a process group of its own and reads /dev/null. The first failure (death by a
/// signal, a non-zero exit status, the time limit, SIGINT or SIGTERM to us) ends all groups:
/// SIGTERM, after `grace` SIGKILL. When workers fail within a moment of each other the cause is
/// returned, not those that only lost their peer. A worker that wrote an error document on
/// standard output fails with that error. Should we be killed, only workers that asked for
/// PR_SET_PDEATHSIG end with us (headrace-torch does).
///
/// Not for use from several threads at once: signals are taken over while it runs.
/// Fails with the worker's own error, or kTimeout ("rank 1 died: killed by signal 9 (out of
/// memory?)"), kInternal (crash, exit status without a document), kUnavailable (cannot start),
/// kInterrupted.
Result<std::vector<std::string>> run_workers(std::span<const Worker> workers,
                                             const LaunchOptions& options);

}  // namespace headrace
