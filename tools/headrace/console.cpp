#include "tools/headrace/console.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "core/files.h"
#include "core/json/documents.h"

namespace headrace::cli {
namespace {

/// 0, or the errno that stopped it.
int write_all(int stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(stream, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Standard error may be gone too; there is nobody left to tell.
void say(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

std::string bar(int done, int total, std::string_view text) {
  constexpr int kWidth = 30;
  const int filled = kWidth * done / total;
  return fmt::format("\r[{:#<{}}{:.<{}}] {}/{} {:.40}\x1b[K", "", filled, "", kWidth - filled, done,
                     total, text);
}

}  // namespace

void prepare_streams() {
  // A descriptor below 3 that is closed would be given to the next file opened, and results would
  // be written into it. Opened for the wrong direction, its use fails as it should.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
}

Result<void> print(std::string_view text) {
  const int problem = write_all(STDOUT_FILENO, text);
  if (problem == 0 || problem == EPIPE) return {};
  return Failure({.code = ErrorCode::kBadInput,
                  .what = fmt::format("cannot write: {}", std::strerror(problem)),
                  .where = "standard output",
                  .fix = "leave standard output open, on a disk with space, or use -o FILE"});
}

Result<void> Console::deliver(std::string_view document, std::string_view text) const {
  if (!options_.file.empty() && options_.file != "-") {
    if (auto ok = write_text(options_.file, document); !ok) return ok;
    detail(fmt::format("wrote {} ({} bytes)", options_.file, document.size()));
  }
  return print(options_.json || options_.file == "-" ? document : text);
}

Result<void> Console::deliver_before_error(std::string_view document, std::string_view text) const {
  if (options_.json && (options_.file.empty() || options_.file == "-")) return {};
  if (!options_.json) return deliver(document, text);
  return write_text(options_.file, document);
}

Result<void> Console::write_file(const std::string& path, std::string_view content,
                                 std::string_view flag) const {
  if (path == "-") {
    return Failure({.code = ErrorCode::kUsage,
                    .what = "standard output belongs to the result",
                    .where = std::string(flag),
                    .fix = "name a file, or /dev/stderr"});
  }
  if (auto ok = write_text(path, content); !ok) return ok;
  detail(fmt::format("wrote {} ({} bytes)", path, content.size()));
  return {};
}

void Console::note(std::string_view text) const {
  if (!options_.quiet) say(fmt::format("{}\n", text));
}

void Console::warn(std::string_view text) const {
  if (!options_.quiet) say(fmt::format("warning: {}\n", text));
}

void Console::detail(std::string_view text) const {
  if (options_.verbose) say(fmt::format("{}\n", text));
}

void Console::progress(int done, int total, std::string_view text) {
  if (options_.quiet || total < 1) return;
  done = std::clamp(done, 0, total);
  if (::isatty(STDERR_FILENO) == 1) {
    bar_open_ = true;
    say(bar(done, total, text));
    if (done == total) end_progress();
    return;
  }
  const int tenth = static_cast<int>(10L * done / total);
  if (tenth == tenth_printed_) return;
  tenth_printed_ = tenth;
  say(fmt::format("{}/{} {}\n", done, total, text));
}

void Console::end_progress() {
  if (std::exchange(bar_open_, false)) say("\n");
}

void Console::report(const Error& error) const {
  if (!options_.json || !options_.quiet) say(fmt::format("error: {}\n", to_string(error)));
  if (options_.json) static_cast<void>(print(to_json(error)));
}

}  // namespace headrace::cli
