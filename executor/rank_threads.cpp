#include "executor/rank_threads.h"

#include <optional>
#include <thread>

#include "executor/failure_cause.h"

namespace headrace {

Result<std::vector<DeviceRecord>> run_rank_threads(
    InProcessNetwork& network, int ranks,
    const std::function<Result<DeviceRecord>(Channel&)>& body) {
  std::vector<Result<DeviceRecord>> results(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back(
        [&network, &body, &result = results[static_cast<std::size_t>(rank)], rank] {
          const auto channel = network.channel(rank);
          result = body(*channel);
          if (!result) channel->close();
        });
  }
  for (std::thread& thread : threads) thread.join();

  std::optional<Error> cause;
  std::vector<DeviceRecord> records;
  for (auto& result : results) {
    if (result) {
      records.push_back(std::move(*result));
    } else if (!cause || distance_from_cause(result.error()) < distance_from_cause(*cause)) {
      cause = result.error();
    }
  }
  if (cause) return Failure(*cause);
  return records;
}

}  // namespace headrace
