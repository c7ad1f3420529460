#include "tools/headrace/machine_checks.h"

#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include "core/text.h"
#include "core/version.h"
#include "executor/host.h"
#include "executor/launcher.h"
#include "report/table.h"
#include "tools/headrace/worker_process.h"

namespace headrace::cli {
namespace {

/// A shared library opened for as long as this lives. It stays mapped: CUPTI's own allocations
/// would otherwise be lost when it goes.
class Library {
 public:
  explicit Library(const char* name)
      : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {}
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  explicit operator bool() const { return handle_ != nullptr; }

  /// The function called `name`, null where the library has none.
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
};

Finding program() {
  return {
      .name = "headrace", .okay = true, .found = fmt::format("{}, g++ {}", kVersion, __VERSION__)};
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

Finding cores() {
  return {.name = "cores",
          .okay = true,
          .found = fmt::format("{} usable, {}", allowed_cores().size(), processor_name())};
}

Finding memory() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  return {.name = "memory", .okay = pages > 0, .found = to_text(Bytes{pages * page})};
}

Finding torch_worker() {
  Finding finding{.name = "LibTorch worker"};
  const auto path = find_worker();
  if (!path) {
    finding.found = path.error().where + ": headrace-torch is not here";
    finding.fix = path.error().fix;
    return finding;
  }
  const Worker worker{.name = "headrace-torch", .arguments = {*path, "version"}};
  const auto output = run_workers(std::span(&worker, 1), {.time_limit = Seconds{20}});
  if (!output) {
    finding.found = fmt::format("{} does not start: {}", *path, output.error().what);
    finding.fix = "build it again; see tools/install_torch.sh";
    return finding;
  }
  finding.okay = true;
  const std::string& text = output->front();
  finding.found = fmt::format("{}: {}", *path, text.substr(0, text.find('\n')));
  return finding;
}

std::string devices_text(const Library& driver) {
  auto* const get_count = driver.function<int(int*)>("cuDeviceGetCount");
  auto* const get_name = driver.function<int(char*, int, int)>("cuDeviceGetName");
  auto* const get_version = driver.function<int(int*)>("cuDriverGetVersion");
  int count = 0;
  int version = 0;
  if (get_count == nullptr || get_count(&count) != 0) return "the driver does not count devices";
  if (get_version != nullptr) get_version(&version);
  std::array<char, 256> name{};
  if (count > 0 && get_name != nullptr) get_name(name.data(), static_cast<int>(name.size()) - 1, 0);
  return fmt::format("{} device{}{}{}, driver for CUDA {}.{}", count, count == 1 ? "" : "s",
                     count > 0 ? ", first: " : "", name.data(), version / 1000,
                     version % 1000 / 10);
}

Finding nvidia_driver() {
  Finding finding{.name = "NVIDIA driver",
                  .fix = "install NVIDIA's driver; planning, simulating and CPU runs need none"};
  const Library driver("libcuda.so.1");
  if (!driver) {
    finding.found = "libcuda.so.1 is not here";
    return finding;
  }
  auto* const initialise = driver.function<int(unsigned)>("cuInit");
  const int status = initialise == nullptr ? -1 : initialise(0);
  if (status != 0) {
    finding.found = fmt::format("libcuda.so.1 is here, but cuInit says {}", status);
    return finding;
  }
  finding.okay = true;
  finding.found = devices_text(driver);
  finding.fix.clear();
  return finding;
}

Finding cupti() {
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    const Library library(name);
    if (!library) continue;
    auto* const get_version = library.function<int(unsigned*)>("cuptiGetVersion");
    unsigned version = 0;
    if (get_version != nullptr) get_version(&version);
    return {.name = "CUPTI", .okay = true, .found = fmt::format("{}, version {}", name, version)};
  }
  return {.name = "CUPTI",
          .okay = false,
          .found = "libcupti is not on the library path",
          .fix = "install the CUDA toolkit, or add its lib64 to LD_LIBRARY_PATH"};
}

}  // namespace

std::vector<Finding> check_machine() {
  return {program(), cores(), memory(), torch_worker(), nvidia_driver(), cupti()};
}

}  // namespace headrace::cli
