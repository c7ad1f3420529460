// Fills the rows of a long schedule on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/schedule.h"

namespace headrace {

/// Calls `fill(r)` once for every row r of `schedule`, from several threads where the schedule is
/// long (`actions` in all); `fill` writes to its own row only, so the result is the same.
template <typename Fill>
void fill_rows(const Schedule& schedule, std::size_t actions, const Fill& fill) {
  constexpr std::size_t kLong = 1U << 20;  // Some milliseconds: far more than a thread costs.
  const std::size_t rows = schedule.rows.size();
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t r = next++; r < rows; r = next++) fill(static_cast<int>(r));
  };
  std::vector<std::thread> threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t useful = actions < kLong ? 1 : std::min(cores, rows);
  for (std::size_t t = 1; t < useful; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace headrace
