// One fill, from enabling its kind of record to reading it.
#include "profiler/cupti/activity_check.h"

#include <cstdlib>
#include <mutex>
#include <vector>

#include <fmt/core.h>

namespace headrace {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;  // CUPTI's rule for activity buffers.

/// The buffers that CUPTI has filled. Its callbacks carry no pointer of ours and come on a thread
/// of its own: the one place where state has to be reachable without an argument.
struct FilledBuffers {
  struct Buffer {
    std::uint8_t* data;
    std::size_t size;
  };
  std::mutex mutex;
  std::vector<Buffer> buffers;
};

FilledBuffers& filled_buffers() {
  static FilledBuffers filled;
  return filled;
}

void CUPTIAPI give_buffer(std::uint8_t** data, std::size_t* size, std::size_t* record_limit) {
  *data = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferSize));
  *size = *data ? kBufferSize : 0;
  *record_limit = 0;  // As many records as fit.
}

void CUPTIAPI take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* data,
                          std::size_t /*size*/, std::size_t valid_size) {
  FilledBuffers& filled = filled_buffers();
  const std::lock_guard lock(filled.mutex);
  filled.buffers.push_back({data, valid_size});
}

Failure failed(std::string_view call, int status) {
  return Failure(Error{ErrorCode::kUnavailable, fmt::format("{} failed with {}", call, status),
                       "GPU profiler", "check nvidia-smi, and that no other profiler is attached"});
}

/// Fills memory in the current context and waits until the GPU has done so.
Result<void> fill_memory(const DriverCalls& driver, std::size_t size) {
  CUdeviceptr memory = 0;
  if (const auto status = driver.allocate(&memory, size); status != CUDA_SUCCESS)
    return failed("cuMemAlloc", status);
  const auto filled = driver.fill_bytes(memory, 0, size);
  const auto waited = driver.synchronize();
  driver.free(memory);
  if (filled != CUDA_SUCCESS) return failed("cuMemsetD8", filled);
  if (waited != CUDA_SUCCESS) return failed("cuCtxSynchronize", waited);
  return {};
}

/// The same on the GPU's primary context, then asks CUPTI for the records while it still exists.
Result<void> fill_and_flush(const CuptiLibrary& library, const Gpu& gpu, std::size_t size) {
  const DriverCalls& driver = library.driver;
  CUcontext context = nullptr;
  if (const auto status = driver.retain_context(&context, gpu.index); status != CUDA_SUCCESS)
    return failed("cuDevicePrimaryCtxRetain", status);

  Result<void> result;
  if (const auto status = driver.set_context(context); status != CUDA_SUCCESS)
    result = failed("cuCtxSetCurrent", status);
  else
    result = fill_memory(driver, size);
  const auto flushed = library.cupti.flush(0);
  driver.set_context(nullptr);
  driver.release_context(gpu.index);
  if (result && flushed != CUPTI_SUCCESS) return failed("cuptiActivityFlushAll", flushed);
  return result;
}

/// Reads and frees every buffer; the last complete fill counts.
Result<FillActivity> read_fill(const CuptiCalls& cupti) {
  FilledBuffers& filled = filled_buffers();
  const std::lock_guard lock(filled.mutex);
  FillActivity activity;
  for (const auto& buffer : filled.buffers) {
    CUpti_Activity* record = nullptr;
    while (cupti.next_record(buffer.data, buffer.size, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_MEMSET) continue;
      const auto* fill = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      if (fill->start == 0 || fill->end < fill->start) continue;  // 0: time was not collected.
      activity = {Bytes(static_cast<std::int64_t>(fill->bytes)),
                  Seconds(1e-9 * static_cast<double>(fill->end - fill->start))};
    }
    std::free(buffer.data);
  }
  filled.buffers.clear();
  if (activity == FillActivity{}) {
    return Failure(Error{ErrorCode::kUnavailable, "CUPTI delivered no record of a memory fill",
                         "GPU profiler",
                         "check that no other profiler is attached to this process"});
  }
  return activity;
}

}  // namespace

Result<FillActivity> record_fill(const CuptiLibrary& library, const Gpu& gpu, Bytes size) {
  const CuptiCalls& cupti = library.cupti;
  if (const auto status = cupti.register_callbacks(give_buffer, take_buffer);
      status != CUPTI_SUCCESS)
    return failed("cuptiActivityRegisterCallbacks", status);
  if (const auto status = cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET); status != CUPTI_SUCCESS)
    return failed("cuptiActivityEnable", status);

  const auto filled = fill_and_flush(library, gpu, static_cast<std::size_t>(size.value()));
  cupti.disable(CUPTI_ACTIVITY_KIND_MEMSET);
  auto activity = read_fill(cupti);  // Also after a failure: it frees the buffers.
  if (!filled) return Failure(filled.error());
  return activity;
}

}  // namespace headrace
