#include "profiler/processors.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <sched.h>

namespace headrace {

std::vector<int> usable_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {0};
  std::vector<int> processors;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(static_cast<std::size_t>(number), &allowed)) processors.push_back(number);
  }
  return processors;
}

Result<void> pin_to(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(processor), &one);
  if (sched_setaffinity(0, sizeof(one), &one) == 0) return {};
  return Failure({.code = ErrorCode::kUnavailable,
                  .what = fmt::format("core {} can't be had: {}", processor, std::strerror(errno)),
                  .where = "sched_setaffinity",
                  .fix = "allow this process the core (taskset, cgroup), or use --load 1"});
}

std::string processor_name_in(std::string_view cpuinfo) {
  constexpr std::string_view kKey = "model name";
  std::size_t at = cpuinfo.find(kKey);
  if (at == std::string_view::npos) return "unknown processor";
  at = cpuinfo.find_first_not_of(" \t:", at + kKey.size());
  if (at == std::string_view::npos) return "unknown processor";
  return std::string(cpuinfo.substr(at, cpuinfo.find('\n', at) - at));
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  return processor_name_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace headrace
