#include "profiler/load_processes.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/processors.h"

namespace headrace {
namespace {

Failure load_failed(std::string what) {
  return Failure({.code = ErrorCode::kUnavailable,
                  .what = std::move(what),
                  .where = "--load",
                  .fix = "free some memory, or use --load 1 to measure on an idle machine"});
}

// Never returns: whatever happens in the child, the parent's code must not go on in it.
[[noreturn]] void run_child(pid_t parent, int processor, int ready_pipe,
                            const LoadProcesses::Work& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || !pin_to(processor)) _exit(1);
  try {
    work([ready_pipe] {
      const char byte = 'r';
      if (write(ready_pipe, &byte, 1) != 1) _exit(1);
    });
  } catch (const std::exception&) {
    _exit(1);  // The parent reads the end of the pipe and says so.
  }
  _exit(1);
}

bool wait_for_byte(int pipe) {
  char byte = 0;
  ssize_t count = 0;
  do count = read(pipe, &byte, 1);
  while (count < 0 && errno == EINTR);
  return count == 1;
}

}  // namespace

Result<LoadProcesses> LoadProcesses::start(std::span<const int> processors, const Work& work) {
  LoadProcesses load;
  const pid_t parent = getpid();
  for (const int processor : processors) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return load_failed(fmt::format("pipe: {}", std::strerror(errno)));
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      run_child(parent, processor, ends[1], work);
    }
    close(ends[1]);
    if (child > 0) load.children_.push_back(child);
    const bool ready = child > 0 && wait_for_byte(ends[0]);
    close(ends[0]);
    if (!ready) {
      return load_failed(fmt::format("the load process for core {} could not start", processor));
    }
  }
  return load;
}

LoadProcesses::LoadProcesses(LoadProcesses&& other) noexcept
    : children_(std::exchange(other.children_, {})) {}

LoadProcesses::~LoadProcesses() {
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

Result<void> LoadProcesses::still_running() const {
  for (const pid_t child : children_) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == child) {
      return load_failed("a load process ended during the measurement");
    }
  }
  return {};
}

}  // namespace headrace
