#include "core/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace {
namespace {

Failure bad_file(const std::string& path, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = path == "-" ? "standard input" : path,
                  .fix = std::move(fix)});
}

/// Closes on scope exit; standard streams are left open.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Failure cannot_write(const std::string& path) {
  return bad_file(path, fmt::format("cannot write: {}", std::strerror(errno)),
                  "choose a folder that exists and is writable");
}

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// Where the content of `path` really lies: links are followed, so that they stay links.
std::string resolved(const std::string& path) {
  char* const target = ::realpath(path.c_str(), nullptr);
  if (target == nullptr) return path;
  std::string result(target);
  std::free(target);
  return result;
}

/// Permissions of `path`, or those of a new file.
mode_t mode_for(const std::string& path) {
  struct stat status {};
  constexpr mode_t kAllBits = 07777;
  constexpr mode_t kNew = 0644;
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & kAllBits : kNew;
}

/// Writes and syncs a file that did not exist. The caller removes it on failure.
bool write_new(const std::string& path, mode_t mode, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (file.get() < 0) return false;
  return write_all(file.get(), content) && ::fsync(file.get()) == 0;
}

}  // namespace

Result<std::string> read_text(const std::string& path, std::size_t limit) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return bad_file(path, fmt::format("cannot read: {}", std::strerror(errno)),
                    "check the path and its permissions");
  }
  std::string content;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return bad_file(path, fmt::format("cannot read: {}", std::strerror(errno)),
                      "name a file, not a folder");
    }
    if (count == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(count));
    if (content.size() > limit) {
      return bad_file(path, fmt::format("larger than {} bytes", limit), "name a smaller file");
    }
  }
}

Result<void> write_text(const std::string& path, std::string_view content) {
  if (path == "-") {
    std::fflush(stdout);
    if (!write_all(STDOUT_FILENO, content)) return cannot_write("standard output");
    return {};
  }
  if (is_special(path)) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0 || !write_all(file.get(), content)) return cannot_write(path);
    return {};
  }
  const std::string target = resolved(path);
  const std::string temporary = fmt::format("{}.{}.tmp", target, ::getpid());
  if (!write_new(temporary, mode_for(target), content) ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const Failure failure = cannot_write(path);
    ::unlink(temporary.c_str());
    return failure;
  }
  return {};
}

}  // namespace headrace
