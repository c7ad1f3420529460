#include "executor/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace headrace {
namespace {

Failure cannot_start(const std::string& program, int reason) {
  return Failure({.code = ErrorCode::kUnavailable,
                  .what = fmt::format("cannot start: {}", std::strerror(reason)),
                  .where = program,
                  .fix = "check that the program exists and may be executed"});
}

/// Our environment with `added` laid over it, as "NAME=value".
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::string name(line.substr(0, line.find('=')));
    if (!added.contains(name)) lines.emplace_back(line);
  }
  for (const auto& [name, value] : added) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The reading end does not block: one slow worker must not hold up the others.
bool open_pipe(std::array<int, 2>& ends) {
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

/// posix_spawn with a group of its own, default signals and the two pipes.
int spawn(std::vector<std::string> arguments, std::vector<std::string> environment, int output,
          int errors, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);

  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&defaults, number);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);

  const int failed = ::posix_spawnp(&pid, arguments.front().c_str(), &files, &attributes,
                                    pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments,
                                         const std::map<std::string, std::string>& environment) {
  std::array<int, 2> output{-1, -1};
  std::array<int, 2> errors{-1, -1};
  ChildProcess child;
  int failed = 0;
  if (!open_pipe(output) || !open_pipe(errors)) failed = errno;
  if (failed == 0) {
    failed = spawn(arguments, environment_with(environment), output[1], errors[1], child.pid_);
  }
  close_descriptor(output[1]);
  close_descriptor(errors[1]);
  child.output_ = output[0];
  child.errors_ = errors[0];
  if (failed != 0) {
    child.pid_ = -1;
    return cannot_start(arguments.front(), failed);
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      status_(other.status_) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    signal(SIGKILL);
    int status = 0;
    while (!status_ && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close_descriptor(output_);
  close_descriptor(errors_);
}

void ChildProcess::read_available(int& descriptor, std::string& into) {
  std::array<char, 65536> block{};
  while (descriptor >= 0) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count > 0) {
      into.append(block.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      return;
    } else {
      close_descriptor(descriptor);
    }
  }
}

std::optional<int> ChildProcess::poll_status() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

// After the child is reaped its group may live on in grandchildren; only an empty group's number
// can be given away, and then to no process of ours.
void ChildProcess::signal(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

}  // namespace headrace
