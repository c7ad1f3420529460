#include "profiler/rounds.h"

#include <algorithm>

namespace headrace {

RoundsResult measure_in_rounds(int series_count, const std::function<std::vector<Sample>()>& round,
                               const RoundOptions& options, const std::function<Seconds()>& now) {
  RoundsResult result;
  result.series.resize(static_cast<std::size_t>(series_count));
  const Seconds start = now();
  const auto report = [&](int done, int total) {
    if (options.on_progress) options.on_progress(done, total);
  };

  const int least = options.warmup + options.stability.min_repetitions;
  for (int done = 0; done < options.warmup; ++done) {
    report(done, least);
    round();
  }
  while (result.rounds < options.max_rounds) {
    for (const Sample& sample : round()) {
      result.series[static_cast<std::size_t>(sample.series)].push_back(sample.time);
    }
    ++result.rounds;
    const int done = options.warmup + result.rounds;
    report(done, std::max(done, least));
    result.stable = all_stable(result.series, options.stability);
    if (result.stable || now() - start >= options.time_limit) break;
  }
  return result;
}

}  // namespace headrace
