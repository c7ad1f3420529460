// Opens the driver and CUPTI at run time and asks what they offer.
#include "profiler/cupti/cupti_library.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <fmt/core.h>

namespace headrace {
namespace {

constexpr std::string_view kWhere = "GPU profiler";
constexpr std::string_view kUseCpu = "use --device cpu, or import a profile";

Failure unavailable(std::string what, std::string_view fix) {
  return Failure(
      Error{ErrorCode::kUnavailable, std::move(what), std::string(kWhere), std::string(fix)});
}

std::string driver_text(const DriverCalls& driver, CUresult status) {
  const char* text = nullptr;
  driver.error_string(status, &text);
  return fmt::format("{} ({})", static_cast<int>(status), text ? text : "unknown error");
}

std::string cupti_text(const CuptiCalls& cupti, CUptiResult status) {
  const char* text = nullptr;
  cupti.result_string(status, &text);
  return fmt::format("{} ({})", static_cast<int>(status), text ? text : "unknown error");
}

/// A shared library that stays open; `missing` names the first function it does not have.
class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& missing() const { return missing_; }

  template <typename Function>
  void bind(Function& function, const char* name) {
    // POSIX gives functions as void*; there is no other way to call them.
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }

 private:
  void* handle_;
  std::string missing_;
};

Result<DriverCalls> open_driver() {
  SharedLibrary library("libcuda.so.1");
  if (!library.is_open()) {
    return unavailable("no NVIDIA driver: libcuda.so.1 is not on this machine",
                       fmt::format("install the NVIDIA driver; without a GPU {}", kUseCpu));
  }
  DriverCalls calls;
  library.bind(calls.init, "cuInit");
  library.bind(calls.error_string, "cuGetErrorString");
  library.bind(calls.driver_version, "cuDriverGetVersion");
  library.bind(calls.device_count, "cuDeviceGetCount");
  library.bind(calls.device_name, "cuDeviceGetName");
  library.bind(calls.device_memory, "cuDeviceTotalMem_v2");
  library.bind(calls.retain_context, "cuDevicePrimaryCtxRetain");
  library.bind(calls.release_context, "cuDevicePrimaryCtxRelease_v2");
  library.bind(calls.set_context, "cuCtxSetCurrent");
  library.bind(calls.synchronize, "cuCtxSynchronize");
  library.bind(calls.allocate, "cuMemAlloc_v2");
  library.bind(calls.free, "cuMemFree_v2");
  library.bind(calls.fill_bytes, "cuMemsetD8_v2");
  if (!library.missing().empty()) {
    return unavailable(fmt::format("the NVIDIA driver has no {}", library.missing()),
                       "install a driver for CUDA 12 or newer");
  }
  return calls;
}

/// Names to try: by soname first, so that a copy which LibTorch brought into the process is used;
/// then the toolkit that CUDA_HOME names, then the folder that belongs to our headers.
std::vector<std::string> cupti_candidates() {
  constexpr std::array kNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  std::vector<std::string> folders = {""};
  if (const char* home = std::getenv("CUDA_HOME")) {
    for (const char* folder : {"lib64", "lib", "extras/CUPTI/lib64"})
      folders.push_back(fmt::format("{}/{}/", home, folder));
  }
  if (constexpr std::string_view kBuilt = HEADRACE_CUPTI_FOLDER; !kBuilt.empty())
    folders.push_back(fmt::format("{}/", kBuilt));

  std::vector<std::string> candidates;
  for (const std::string& folder : folders)
    for (const char* name : kNames) candidates.push_back(folder + name);
  return candidates;
}

std::optional<SharedLibrary> open_first(const std::vector<std::string>& candidates) {
  for (const std::string& name : candidates)
    if (SharedLibrary library(name); library.is_open()) return library;
  return std::nullopt;
}

Result<std::vector<Gpu>> list_gpus(const DriverCalls& driver) {
  int count = 0;
  CUresult status = driver.init(0);
  if (status == CUDA_SUCCESS) status = driver.device_count(&count);
  if (status == CUDA_ERROR_NO_DEVICE || (status == CUDA_SUCCESS && count == 0)) {
    return unavailable("the NVIDIA driver sees no GPU",
                       fmt::format("check nvidia-smi and CUDA_VISIBLE_DEVICES, or {}", kUseCpu));
  }
  if (status != CUDA_SUCCESS) {
    return unavailable(
        fmt::format("the NVIDIA driver does not start: error {}", driver_text(driver, status)),
        fmt::format("check nvidia-smi, or {}", kUseCpu));
  }

  std::vector<Gpu> gpus;
  for (int index = 0; index < count; ++index) {
    std::array<char, 256> name{};
    std::size_t memory = 0;
    // The driver promises that device handles are the numbers 0 .. count - 1.
    status = driver.device_name(name.data(), static_cast<int>(name.size()) - 1, index);
    if (status == CUDA_SUCCESS) status = driver.device_memory(&memory, index);
    if (status != CUDA_SUCCESS) {
      return unavailable(
          fmt::format("GPU {} does not answer: error {}", index, driver_text(driver, status)),
          "check nvidia-smi, or hide that GPU with CUDA_VISIBLE_DEVICES");
    }
    gpus.push_back({index, name.data(), Bytes(static_cast<std::int64_t>(memory))});
  }
  return gpus;
}

/// Switches one kind of record on and off: without a working driver CUPTI answers 999 to this.
Result<void> check_collecting(const CuptiCalls& cupti) {
  CUptiResult status = cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (status == CUPTI_SUCCESS) status = cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (status == CUPTI_SUCCESS) return {};
  if (status == CUPTI_ERROR_UNKNOWN) {
    return unavailable(
        fmt::format("CUPTI finds no NVIDIA driver: error {}", cupti_text(cupti, status)),
        "install a driver at least as new as the CUDA toolkit");
  }
  return unavailable(
      fmt::format("CUPTI refuses to collect activities: error {}", cupti_text(cupti, status)),
      "end other profilers of this process, and check that the driver is as new as CUPTI");
}

}  // namespace

Result<CuptiCalls> load_cupti() {
  auto library = open_first(cupti_candidates());
  if (!library) {
    return unavailable("no CUPTI: libcupti.so.13 is not found",
                       "install the CUDA toolkit with CUPTI and set CUDA_HOME to its folder");
  }
  CuptiCalls calls;
  library->bind(calls.version, "cuptiGetVersion");
  library->bind(calls.result_string, "cuptiGetResultString");
  library->bind(calls.register_callbacks, "cuptiActivityRegisterCallbacks");
  library->bind(calls.enable, "cuptiActivityEnable");
  library->bind(calls.disable, "cuptiActivityDisable");
  library->bind(calls.flush, "cuptiActivityFlushAll");
  library->bind(calls.next_record, "cuptiActivityGetNextRecord");
  if (!library->missing().empty()) {
    return unavailable(fmt::format("CUPTI has no {}", library->missing()),
                       "install the CUPTI of CUDA 12 or newer");
  }
  return calls;
}

bool same_release(std::uint32_t library_version, std::uint32_t header_version) {
  // CUPTI counted releases (28 = CUDA 12.9) until 13.0, and has written xxyyzz since.
  constexpr std::uint32_t kFirstDated = 130000;
  constexpr std::uint32_t kUpdates = 100;
  if (library_version < kFirstDated || header_version < kFirstDated)
    return library_version == header_version;
  return library_version / kUpdates == header_version / kUpdates;
}

Result<CuptiLibrary> inspect_gpus(const DriverCalls& driver, const CuptiCalls& cupti,
                                  std::uint32_t header_version) {
  auto gpus = list_gpus(driver);
  if (!gpus) return Failure(gpus.error());

  CuptiLibrary library{.driver = driver, .cupti = cupti, .gpus = std::move(*gpus)};
  driver.driver_version(&library.driver_version);
  cupti.version(&library.cupti_version);
  if (!same_release(library.cupti_version, header_version)) {
    return unavailable(
        fmt::format("CUPTI is version {}, this program was built for {}", library.cupti_version,
                    header_version),
        "build with CUDA_HOME set to the toolkit whose libcupti is found at run time");
  }
  if (const auto collects = check_collecting(cupti); !collects) return Failure(collects.error());
  return library;
}

Result<CuptiLibrary> open_cupti() {
  const auto driver = open_driver();
  if (!driver) return Failure(driver.error());
  const auto cupti = load_cupti();
  if (!cupti) return Failure(cupti.error());
  return inspect_gpus(*driver, *cupti);
}

}  // namespace headrace
