// One child process with its two output pipes, ended and reaped when the owner lets go.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/result.h"

namespace headrace {

/// A running or finished child in a process group of its own.
class ChildProcess {
 public:
  /// Starts `arguments` (the first is the program's path, looked up in PATH without a slash) with
  /// /dev/null as standard input and the given variables added to our environment.
  /// Fails with kUnavailable when the program cannot be started.
  static Result<ChildProcess> start(const std::vector<std::string>& arguments,
                                    const std::map<std::string, std::string>& environment);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Kills what is left of the group and reaps the child.
  ~ChildProcess();

  /// Descriptor of the child's standard output or error; -1 after it was closed.
  [[nodiscard]] int output() const { return output_; }
  [[nodiscard]] int errors() const { return errors_; }

  /// Reads what is there without waiting and appends it; closes the descriptor at end of file.
  void read_output(std::string& into) { read_available(output_, into); }
  void read_errors(std::string& into) { read_available(errors_, into); }

  /// The wait status once the child has ended; asks the system without waiting.
  std::optional<int> poll_status();

  /// Sends a signal to the whole group.
  void signal(int number) const;

 private:
  ChildProcess() = default;
  static void read_available(int& descriptor, std::string& into);

  pid_t pid_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::optional<int> status_;
};

}  // namespace headrace
