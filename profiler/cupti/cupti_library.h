// Finds the GPUs of this machine and a CUPTI that can measure them, or says why it cannot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "profiler/cupti/gpu_calls.h"

namespace headrace {

/// One GPU as the driver numbers it (after CUDA_VISIBLE_DEVICES).
struct Gpu {
  int index = 0;
  std::string name;
  Bytes memory{0};
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// A driver with at least one GPU and a CUPTI whose records our headers describe.
struct CuptiLibrary {
  DriverCalls driver;
  CuptiCalls cupti;
  int driver_version = 0;           ///< The newest CUDA that the driver supports: 13000 is 13.0.
  std::uint32_t cupti_version = 0;  ///< Of the library that was opened.
  std::vector<Gpu> gpus;
};

/// Opens libcuda and libcupti of this machine and inspects them. The libraries stay open until the
/// process ends: CUPTI keeps threads of its own.
/// Fails with kUnavailable as `inspect_gpus`, or when a library or one of its functions is missing.
Result<CuptiLibrary> open_cupti();

/// CUPTI's calls alone, without asking it for anything: by name from the system's search path, then
/// from CUDA_HOME, then from beside the headers of this build.
/// Fails with kUnavailable when there is none, or one of its functions is missing.
Result<CuptiCalls> load_cupti();

/// Asks the calls for driver, GPUs and version, and whether activities can be collected.
/// `header_version` is the CUPTI that this program was compiled for.
/// Fails with kUnavailable: no driver, no GPU, a CUPTI of another release (the layout of records
/// follows the library), or one that refuses.
Result<CuptiLibrary> inspect_gpus(const DriverCalls& driver, const CuptiCalls& cupti,
                                  std::uint32_t header_version = CUPTI_API_VERSION);

/// Whether records of a library can be read with headers of another version: equal CUDA releases,
/// whatever the update (130000 and 130001 are 13.0; before 13.0 every version is a release).
bool same_release(std::uint32_t library_version, std::uint32_t header_version);

}  // namespace headrace
