#include "planner/chain_ties.h"

#include <algorithm>
#include <deque>

namespace headrace {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Borders that stage s can begin at in any cut within the limit lie in [low, high].
struct BorderRange {
  int low = 0;
  int high = 0;
};

int earliest_begin(const ChainCosts& costs, int stage, int last, const ChainLimit& limit) {
  int begin = last;
  int beyond = -1;
  while (begin - beyond > 1) {
    const int middle = beyond + (begin - beyond) / 2;
    if (costs.core_fits(stage, middle, last, limit)) {
      begin = middle;
    } else {
      beyond = middle;
    }
  }
  return begin;
}

/// Greedy from the left bounds every border from above, greedy from the right from below.
std::vector<BorderRange> border_ranges(const ChainCosts& costs, const ChainLimit& limit) {
  const int stages = costs.stages();
  const int layers = costs.layers();
  std::vector<BorderRange> ranges(at(stages) + 1);
  for (int s = 0; s < stages; ++s) {
    const int reach =
        ranges[at(s)].high == layers ? layers : costs.core_reach(s, ranges[at(s)].high, limit);
    ranges[at(s) + 1].high = std::min(reach, layers - (stages - 1 - s));
  }
  ranges.back().low = layers;
  for (int s = stages - 1; s > 0; --s) {
    const int begin = earliest_begin(costs, s, ranges[at(s) + 1].low, limit);
    ranges[at(s)].low = std::max(s, begin);
  }
  return ranges;
}

/// Fewest bytes at the borders after each begin of one stage.
struct StageBytes {
  BorderRange range;
  std::vector<std::int64_t> fewest;  // fewest[i - range.low]

  [[nodiscard]] std::int64_t from(int border) const {
    const bool inside = range.low <= border && border <= range.high;
    return inside ? fewest[at(border - range.low)] : kNever;
  }
};

/// What ending at `border` costs: its own bytes (0 at the end of the chain) and all after it.
std::int64_t through(const ChainCosts& costs, const StageBytes& after, int border) {
  const std::int64_t rest = after.from(border);
  return rest == kNever ? kNever : rest + costs.border_bytes(border);
}

/// Memory is monotone: the ends that fit form a window that only moves right as the begin does,
/// and its minimum is kept in a queue of ever larger values.
void fill_by_window(const ChainCosts& costs, int stage, const StageBytes& after,
                    const ChainLimit& limit, StageBytes& now) {
  std::deque<int> rising;
  int next = std::max(now.range.low + 1, after.range.low);
  for (int first = now.range.low; first <= now.range.high; ++first) {
    for (; next <= after.range.high && (next <= first || costs.fits(stage, first, next, limit));
         ++next) {
      const std::int64_t value = through(costs, after, next);
      while (!rising.empty() && through(costs, after, rising.back()) >= value) rising.pop_back();
      rising.push_back(next);
    }
    while (!rising.empty() && rising.front() <= first) rising.pop_front();
    if (!rising.empty())
      now.fewest[at(first - now.range.low)] = through(costs, after, rising.front());
  }
}

void fill_by_scan(const ChainCosts& costs, int stage, const StageBytes& after,
                  const ChainLimit& limit, StageBytes& now) {
  for (int first = now.range.low; first <= now.range.high; ++first) {
    std::int64_t& fewest = now.fewest[at(first - now.range.low)];
    const int begin = std::max(first + 1, after.range.low);
    for (int last = begin; last <= after.range.high; ++last) {
      const std::int64_t value = through(costs, after, last);
      if (value < fewest && costs.fits(stage, first, last, limit)) fewest = value;
      if (!costs.core_fits(stage, first, last, limit)) break;
    }
  }
}

}  // namespace

std::optional<Borders> lightest_cut(const ChainCosts& costs, const ChainLimit& limit) {
  const int stages = costs.stages();
  const auto ranges = border_ranges(costs, limit);
  std::vector<StageBytes> table(at(stages) + 1);
  for (int s = stages; s >= 0; --s) {
    const BorderRange range = ranges[at(s)];
    if (range.low > range.high) return std::nullopt;
    StageBytes& now = table[at(s)];
    now.range = range;
    now.fewest.assign(at(range.high - range.low) + 1, s == stages ? 0 : kNever);
    if (s == stages) continue;
    if (costs.monotone()) {
      fill_by_window(costs, s, table[at(s) + 1], limit, now);
    } else {
      fill_by_scan(costs, s, table[at(s) + 1], limit, now);
    }
  }
  if (table[0].from(0) == kNever) return std::nullopt;
  Borders borders{0};
  for (int s = 0; s < stages; ++s) {
    const int first = borders.back();
    int last = std::max(first + 1, ranges[at(s) + 1].low);
    while (through(costs, table[at(s) + 1], last) != table[at(s)].from(first) ||
           !costs.fits(s, first, last, limit)) {
      ++last;
    }
    borders.push_back(last);
  }
  return borders;
}

}  // namespace headrace
