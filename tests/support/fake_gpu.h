// A driver and a CUPTI that exist only in memory: one GPU, and what each call is to answer.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "profiler/cupti/cupti_library.h"

namespace headrace::testing {

/// What the fabricated calls answer, and what they were asked. CUPTI's functions take no object,
/// so there is one; `reset` gives a case its own.
struct FakeGpu {
  CUresult init = CUDA_SUCCESS;
  CUresult allocate = CUDA_SUCCESS;
  int count = 1;
  std::uint32_t cupti_version = CUPTI_API_VERSION;
  CUptiResult enable = CUPTI_SUCCESS;
  std::vector<CUpti_ActivityMemset4> records = {};  ///< Delivered at the next flush.
  std::vector<std::string> asked = {};              ///< Calls that change state, in order.

  CUpti_BuffersCallbackRequestFunc give_buffer = nullptr;
  CUpti_BuffersCallbackCompleteFunc take_buffer = nullptr;
  std::size_t next_record = 0;

  static FakeGpu& instance() {
    static FakeGpu fake;
    return fake;
  }
  static FakeGpu& reset() { return instance() = {}; }
};

inline DriverCalls fake_driver() {
  DriverCalls calls;
  calls.init = [](unsigned) { return FakeGpu::instance().init; };
  calls.error_string = [](CUresult, const char** text) {
    *text = "fabricated";
    return CUDA_SUCCESS;
  };
  calls.driver_version = [](int* version) {
    *version = 13000;
    return CUDA_SUCCESS;
  };
  calls.device_count = [](int* count) {
    *count = FakeGpu::instance().count;
    return CUDA_SUCCESS;
  };
  calls.device_name = [](char* name, int size, CUdevice) {
    std::strncpy(name, "Fabricated GPU", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  };
  calls.device_memory = [](std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{80} << 30;
    return CUDA_SUCCESS;
  };
  calls.retain_context = [](CUcontext*, CUdevice) {
    FakeGpu::instance().asked.emplace_back("retain");
    return CUDA_SUCCESS;
  };
  calls.release_context = [](CUdevice) {
    FakeGpu::instance().asked.emplace_back("release");
    return CUDA_SUCCESS;
  };
  calls.set_context = [](CUcontext) { return CUDA_SUCCESS; };
  calls.synchronize = [] { return CUDA_SUCCESS; };
  calls.allocate = [](CUdeviceptr*, std::size_t) { return FakeGpu::instance().allocate; };
  calls.free = [](CUdeviceptr) { return CUDA_SUCCESS; };
  calls.fill_bytes = [](CUdeviceptr, unsigned char, std::size_t) {
    FakeGpu::instance().asked.emplace_back("fill");
    return CUDA_SUCCESS;
  };
  return calls;
}

/// Hands the waiting records to the callbacks in one buffer, as CUPTI does at a flush.
inline CUptiResult fake_flush(std::uint32_t) {
  FakeGpu& fake = FakeGpu::instance();
  fake.asked.emplace_back("flush");
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t limit = 0;
  fake.give_buffer(&buffer, &size, &limit);
  const std::size_t valid = fake.records.size() * sizeof(CUpti_ActivityMemset4);
  if (valid > 0) std::memcpy(buffer, fake.records.data(), valid);
  fake.next_record = 0;
  fake.take_buffer(nullptr, 0, buffer, size, valid);
  return CUPTI_SUCCESS;
}

inline CuptiCalls fake_cupti() {
  CuptiCalls calls;
  calls.version = [](std::uint32_t* version) {
    *version = FakeGpu::instance().cupti_version;
    return CUPTI_SUCCESS;
  };
  calls.result_string = [](CUptiResult, const char** text) {
    *text = "fabricated";
    return CUPTI_SUCCESS;
  };
  calls.register_callbacks = [](CUpti_BuffersCallbackRequestFunc give,
                                CUpti_BuffersCallbackCompleteFunc take) {
    FakeGpu::instance().give_buffer = give;
    FakeGpu::instance().take_buffer = take;
    return CUPTI_SUCCESS;
  };
  calls.enable = [](CUpti_ActivityKind) {
    FakeGpu::instance().asked.emplace_back("enable");
    return FakeGpu::instance().enable;
  };
  calls.disable = [](CUpti_ActivityKind) {
    FakeGpu::instance().asked.emplace_back("disable");
    return CUPTI_SUCCESS;
  };
  calls.flush = fake_flush;
  calls.next_record = [](std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    FakeGpu& fake = FakeGpu::instance();
    const std::size_t offset = fake.next_record * sizeof(CUpti_ActivityMemset4);
    if (offset >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
    ++fake.next_record;
    return CUPTI_SUCCESS;
  };
  return calls;
}

}  // namespace headrace::testing
