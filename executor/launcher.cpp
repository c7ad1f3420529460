#include "executor/launcher.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/json/documents.h"
#include "executor/child_process.h"
#include "executor/failure_cause.h"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::nanoseconds as_duration(Seconds time) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(time.value() * 1e9));
}

/// SIGINT, SIGTERM and SIGCHLD as a descriptor to poll, for as long as this lives.
class CaughtSignals {
 public:
  CaughtSignals() {
    sigset_t caught;
    sigemptyset(&caught);
    for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&caught, number);
    ::pthread_sigmask(SIG_BLOCK, &caught, &before_);
    descriptor_ = ::signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~CaughtSignals() {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Takes what has arrived; true when someone asked us to stop.
  [[nodiscard]] bool take_interrupt() const {
    bool interrupted = false;
    signalfd_siginfo info{};
    while (::read(descriptor_, &info, sizeof info) == sizeof info) {
      interrupted |= info.ssi_signo != SIGCHLD;
    }
    return interrupted;
  }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

/// A worker with what it wrote so far and how it failed, if it did.
struct Watched {
  ChildProcess process;
  std::string output = {};
  std::string pending_errors = {};  ///< Standard error since the last full line.
  bool ended = false;
  std::optional<Error> failure = {};
};

bool is_crash(int number) {
  return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGFPE ||
         number == SIGILL;
}

Error death_by_signal(const Worker& worker, int number) {
  const char* const name = ::strsignal(number);
  if (is_crash(number)) {
    return {.code = ErrorCode::kInternal,
            .what = fmt::format("{} crashed: signal {} ({})", worker.name, number, name),
            .where = worker.arguments.front(),
            .fix = "report it with the messages above"};
  }
  return {.code = ErrorCode::kTimeout,
          .what = fmt::format("{} died: killed by signal {} ({})", worker.name, number,
                              number == SIGKILL ? "out of memory?" : name),
          .where = worker.arguments.front(),
          .fix = number == SIGKILL ? "give the stages more memory, or use smaller micro-batches"
                                   : "find who sent the signal, and run again"};
}

/// The failure of an ended worker, its own words where it left an error document.
std::optional<Error> failure_of(const Worker& worker, const std::string& output, int status) {
  if (WIFSIGNALED(status)) return death_by_signal(worker, WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return std::nullopt;
  if (auto told = error_from_json(output, worker.name)) return *told;
  return Error{.code = ErrorCode::kInternal,
               .what = fmt::format("{} ended with exit status {} and no error document",
                                   worker.name, WEXITSTATUS(status)),
               .where = worker.arguments.front(),
               .fix = "read its messages above"};
}

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

std::optional<WorkerProgress> progress_from_line(int worker, std::string_view line) {
  constexpr std::string_view kMark = "progress ";
  if (!line.starts_with(kMark)) return std::nullopt;
  line.remove_prefix(kMark.size());
  const auto done = take_number(line);
  const auto total = take_number(line);
  if (!done || !total) return std::nullopt;
  return WorkerProgress{
      .worker = worker, .done = *done, .total = *total, .text = std::string(line)};
}

/// All workers of one run.
class Supervisor {
 public:
  Supervisor(std::span<const Worker> workers, const LaunchOptions& options)
      : workers_(workers), options_(options) {}

  Result<std::vector<std::string>> run() {
    for (const Worker& worker : workers_) {
      auto child = ChildProcess::start(worker.arguments, worker.environment);
      if (!child) return Failure(child.error());
      watched_.push_back({.process = std::move(*child)});
    }
    const auto started = Clock::now();
    while (!all_ended() && !stop_) {
      if (options_.time_limit && Clock::now() > started + as_duration(*options_.time_limit)) {
        stop_ = time_limit_error();
        break;
      }
      poll_once();
      if (any_failed()) break;
    }
    if (stop_ || any_failed()) return Failure(end_all());
    std::vector<std::string> outputs;
    for (Watched& each : watched_) outputs.push_back(std::move(each.output));
    return outputs;
  }

 private:
  [[nodiscard]] bool all_ended() const { return std::ranges::all_of(watched_, &Watched::ended); }
  [[nodiscard]] bool any_failed() const {
    return std::ranges::any_of(watched_, [](const Watched& w) { return w.failure.has_value(); });
  }

  [[nodiscard]] Error time_limit_error() const {
    const auto open = std::ranges::find(watched_, false, &Watched::ended);
    return {.code = ErrorCode::kTimeout,
            .what = fmt::format("{} still runs after {:.1f} s",
                                workers_[static_cast<std::size_t>(open - watched_.begin())].name,
                                options_.time_limit->value()),
            .where = "launcher",
            .fix = "allow more time, or find out what it waits for"};
  }

  /// Waits a moment for output, an end or a signal, and takes what there is.
  void poll_once() {
    std::vector<pollfd> descriptors{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const Watched& each : watched_) {
      // A negative descriptor is skipped by poll.
      descriptors.push_back({.fd = each.process.output(), .events = POLLIN, .revents = 0});
      descriptors.push_back({.fd = each.process.errors(), .events = POLLIN, .revents = 0});
    }
    constexpr int kMilliseconds = 50;  // A backstop: SIGCHLD may have gone to another thread.
    ::poll(descriptors.data(), descriptors.size(), kMilliseconds);
    if (signals_.take_interrupt()) {
      stop_ = Error{.code = ErrorCode::kInterrupted,
                    .what = "interrupted; all workers were ended",
                    .where = "launcher",
                    .fix = "run again to start anew"};
    }
    for (std::size_t i = 0; i < watched_.size(); ++i) take_news(i);
  }

  void take_news(std::size_t i) {
    Watched& each = watched_[i];
    // The status first: output written before the end is then surely read below.
    const auto status = each.ended ? std::nullopt : each.process.poll_status();
    each.process.read_output(each.output);
    each.process.read_errors(each.pending_errors);
    forward_lines(static_cast<int>(i), each.pending_errors, status.has_value());
    if (!status) return;
    each.ended = true;
    each.failure = failure_of(workers_[i], each.output, *status);
  }

  void forward_lines(int worker, std::string& pending, bool last) {
    if (last && !pending.empty() && pending.back() != '\n') pending += '\n';
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = pending.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      forward_line(worker, std::string_view(pending).substr(begin, end - begin));
    }
    pending.erase(0, begin);
  }

  void forward_line(int worker, std::string_view line) {
    if (const auto progress = progress_from_line(worker, line)) {
      if (options_.on_progress) options_.on_progress(*progress);
    } else if (options_.on_line) {
      options_.on_line(worker, line);
    } else {
      fmt::print(stderr, "{}: {}\n", workers_[static_cast<std::size_t>(worker)].name, line);
    }
  }

  /// Ends every group and returns the error nearest to the cause.
  Error end_all() {
    constexpr auto kSettle = std::chrono::milliseconds(300);
    if (!stop_) poll_until(Clock::now() + kSettle, [this] { return has_cause(); });
    std::optional<Error> cause = stop_;
    for (const Watched& each : watched_) {
      if (!each.failure || stop_) continue;
      if (!cause || distance_from_cause(*each.failure) < distance_from_cause(*cause)) {
        cause = each.failure;
      }
    }
    for (const Watched& each : watched_) each.process.signal(SIGTERM);
    poll_until(Clock::now() + as_duration(options_.grace), [this] { return all_ended(); });
    watched_.clear();  // Kills what is left and reaps it.
    return *cause;
  }

  /// A failure that no other worker's failure can have brought about.
  [[nodiscard]] bool has_cause() const {
    return all_ended() || std::ranges::any_of(watched_, [](const Watched& each) {
             return each.failure && distance_from_cause(*each.failure) == 0;
           });
  }

  template <typename Condition>
  void poll_until(Clock::time_point deadline, Condition done) {
    while (!done() && Clock::now() < deadline) poll_once();
  }

  std::span<const Worker> workers_;
  const LaunchOptions& options_;
  CaughtSignals signals_;
  std::vector<Watched> watched_;
  std::optional<Error> stop_;
};

}  // namespace

Result<std::vector<std::string>> run_workers(std::span<const Worker> workers,
                                             const LaunchOptions& options) {
  return Supervisor(workers, options).run();
}

}  // namespace headrace
