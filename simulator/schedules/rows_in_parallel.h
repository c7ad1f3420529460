// Fills the rows of a long schedule on all cores.
#pragma once

#include <cstddef>
#include <thread>

#include "core/schedule.h"
#include "simulator/parallel.h"

namespace headrace {

/// Calls `fill(r)` once for every row r of `schedule`, from several threads where the rows have
/// room for many actions; `fill` writes to its own row only, so the result is the same.
template <typename Fill>
void fill_rows(const Schedule& schedule, const Fill& fill) {
  constexpr std::size_t kLong = 1U << 22;  // Some milliseconds: far more than a thread costs.
  std::size_t room = 0;
  for (const auto& row : schedule.rows) room += row.capacity();
  const int threads = room < kLong ? 1 : static_cast<int>(std::thread::hardware_concurrency());
  for_each_in_parallel(schedule.rows.size(), threads,
                       [&](std::size_t r) { fill(static_cast<int>(r)); });
}

}  // namespace headrace
