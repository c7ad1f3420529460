// Every allocation of CPU tensors on this thread, exact to the byte.
#pragma once

#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace headrace {

/// Counts bytes of tensors allocated and freed on this thread while it exists. Scratch memory that
/// the math libraries take elsewhere is not seen.
class AllocationLog {
 public:
  AllocationLog();
  AllocationLog(const AllocationLog&) = delete;
  AllocationLog& operator=(const AllocationLog&) = delete;

  [[nodiscard]] std::int64_t current() const;  ///< Since the start.
  [[nodiscard]] std::int64_t peak() const;     ///< Highest `current` since the last restart.
  void restart_peak();

 private:
  class Report;

  std::shared_ptr<Report> report_;
  c10::DebugInfoGuard guard_;
};

}  // namespace headrace
