// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace headrace {

/// Calls `work(i)` once for every i below `count`, from at most `threads` threads. Calls must not
/// touch one another's results; then these do not depend on the number of threads.
template <typename Work>
void for_each_in_parallel(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t useful = std::min(static_cast<std::size_t>(std::max(1, threads)), count);
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < useful; ++t) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
}

}  // namespace headrace
