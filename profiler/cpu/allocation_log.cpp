#include "profiler/cpu/allocation_log.h"

#include <algorithm>

namespace headrace {

class AllocationLog::Report final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
    current += size;
    peak = std::max(peak, current);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }

  std::int64_t current = 0;
  std::int64_t peak = 0;
};

AllocationLog::AllocationLog()
    : report_(std::make_shared<Report>()), guard_(c10::DebugInfoKind::PROFILER_STATE, report_) {}

std::int64_t AllocationLog::current() const {
  return report_->current;
}
std::int64_t AllocationLog::peak() const {
  return report_->peak;
}
void AllocationLog::restart_peak() {
  report_->peak = report_->current;
}

}  // namespace headrace
