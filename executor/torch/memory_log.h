// Bytes that the calling thread holds of LibTorch's CPU memory, now and at the most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "executor/stage_backend.h"

namespace headrace {

/// Counts every allocation and release of the thread that made it, from then on. Must be made and
/// destroyed by one thread, and outlives what it counted only by mistake: release tensors first.
class MemoryLog {
 public:
  MemoryLog() : guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}

  /// Forgets the peak so far.
  void start() { counter_->peak = counter_->now; }
  [[nodiscard]] HeldMemory held() const {
    return {.peak = Bytes{counter_->peak}, .after = Bytes{counter_->now}};
  }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void* /*pointer*/, std::int64_t size, std::size_t /*allocated*/,
                           std::size_t /*reserved*/, c10::Device /*device*/) override {
      now += size;
      peak = std::max(peak, now);
    }
    [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }

    std::int64_t now = 0;
    std::int64_t peak = 0;
  };

  std::shared_ptr<Counter> counter_ = std::make_shared<Counter>();
  c10::DebugInfoGuard guard_;
};

}  // namespace headrace
