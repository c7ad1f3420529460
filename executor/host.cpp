#include "executor/host.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/core.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headrace {
namespace {

Failure unavailable(std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kUnavailable,
                  .what = std::move(what),
                  .where = "this host",
                  .fix = std::move(fix)});
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

Result<void> pin_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  // On Linux, process id 0 is the calling thread alone.
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    return unavailable(fmt::format("cannot pin to core {}: {}", core, std::strerror(errno)),
                       "choose a core of the allowed set (taskset -p $$ shows it)");
  }
  return {};
}

Result<int> free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = listener >= 0 && ::bind(listener, generic, size) == 0 &&
                     ::getsockname(listener, generic, &size) == 0;
  const int reason = errno;
  if (listener >= 0) ::close(listener);
  if (!bound) {
    return unavailable(fmt::format("no free TCP port: {}", std::strerror(reason)),
                       "allow sockets on 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

}  // namespace headrace
