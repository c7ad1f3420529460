// Every call into the CUDA driver and CUPTI, as tables of function pointers that are filled at run
// time: a program that linked them would not start on a machine without the driver.
#pragma once

#include <cupti.h>

namespace headrace {

/// The CUDA driver. Named without the suffix of the version (`_v2`) that the header maps them to.
struct DriverCalls {
  decltype(&cuInit) init = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuDriverGetVersion) driver_version = nullptr;
  decltype(&cuDeviceGetCount) device_count = nullptr;
  decltype(&cuDeviceGetName) device_name = nullptr;
  decltype(&cuDeviceTotalMem_v2) device_memory = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_context = nullptr;
  decltype(&cuDevicePrimaryCtxRelease_v2) release_context = nullptr;
  decltype(&cuCtxSetCurrent) set_context = nullptr;
  decltype(&cuCtxSynchronize) synchronize = nullptr;
  decltype(&cuMemAlloc_v2) allocate = nullptr;
  decltype(&cuMemFree_v2) free = nullptr;
  decltype(&cuMemsetD8_v2) fill_bytes = nullptr;
};

/// CUPTI's activity interface; no subscriber, so it works beside a debugger or another profiler.
struct CuptiCalls {
  decltype(&cuptiGetVersion) version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
};

}  // namespace headrace
