#include "planner/chain_probe.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::max();

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Least time limit above `limit.time` that would let a greedy stage from `first` pass `reached`.
std::int64_t next_time_after(const ChainCosts& costs, int stage, int first, int reached,
                             const ChainLimit& limit) {
  if (reached == costs.layers()) return kNoTime;
  const std::int64_t longer = costs.time(stage, first, reached + 1);
  return longer > limit.time ? longer : kNoTime;  // Else memory stopped it, and no time helps.
}

/// A stage that not one layer fits in is left empty for now; fewer than s layers after s stages
/// can never be repaired, more can: empty stages are filled from the right with the tail of the
/// stage before, which holds more activations and so had room for it.
ProbeAnswer probe_greedily(const ChainCosts& costs, const ChainLimit& limit) {
  Borders borders(at(costs.stages()) + 1, 0);
  ProbeAnswer answer{.next_time = kNoTime};
  bool enough = true;
  for (int s = 0; s < costs.stages(); ++s) {
    const int first = borders[at(s)];
    const int last = costs.reach(s, first, limit);
    borders[at(s) + 1] = last;
    enough = enough && last >= s + 1;
    answer.next_time = std::min(answer.next_time, next_time_after(costs, s, first, last, limit));
  }
  if (!enough || borders.back() != costs.layers()) return answer;
  for (int s = costs.stages() - 1; s > 0; --s) {
    borders[at(s)] = std::min(borders[at(s)], borders[at(s) + 1] - 1);
  }
  answer.borders = std::move(borders);
  return answer;
}

/// previous[j]: the greatest border below j at which stage s can begin, or -1.
std::vector<int> previous_members(const std::vector<char>& members) {
  std::vector<int> previous(members.size(), -1);
  for (std::size_t j = 1; j < members.size(); ++j) {
    previous[j] = members[j - 1] != 0 ? static_cast<int>(j) - 1 : previous[j - 1];
  }
  return previous;
}

/// The greatest begin from which stage s can end at `last`, or -1. Shorter stages come first: when
/// one core-fails, so do all longer ones; where memory is monotone the shortest decides alone.
int begin_of(const ChainCosts& costs, const std::vector<int>& previous, int stage, int last,
             const ChainLimit& limit) {
  for (int first = previous[at(last)]; first >= 0; first = previous[at(first)]) {
    if (costs.fits(stage, first, last, limit)) return first;
    if (costs.monotone() || !costs.core_fits(stage, first, last, limit)) return -1;
  }
  return -1;
}

ProbeAnswer probe_sets(const ChainCosts& costs, const ChainLimit& limit) {
  const int layers = costs.layers();
  const int stages = costs.stages();
  std::vector<std::vector<int>> begins;  // begins[s][j]: where stage s that ends at j begins.
  std::vector<char> members(at(layers) + 1, 0);
  members[0] = 1;
  for (int s = 0; s < stages; ++s) {
    const std::vector<int> previous = previous_members(members);
    std::vector<int> begin(at(layers) + 1, -1);
    for (int last = s + 1; last <= layers - (stages - 1 - s); ++last) {
      begin[at(last)] = begin_of(costs, previous, s, last, limit);
    }
    for (std::size_t j = 0; j < members.size(); ++j) members[j] = begin[j] >= 0 ? 1 : 0;
    begins.push_back(std::move(begin));
  }
  if (members[at(layers)] == 0)
    return {.next_time = limit.time == kNoTime ? kNoTime : limit.time + 1};
  Borders borders(at(stages) + 1, layers);
  for (int s = stages - 1; s >= 0; --s) borders[at(s)] = begins[at(s)][at(borders[at(s) + 1])];
  return {.borders = std::move(borders)};
}

}  // namespace

ProbeAnswer probe_chain(const ChainCosts& costs, const ChainLimit& limit) {
  return costs.greedy_is_exact() ? probe_greedily(costs, limit) : probe_sets(costs, limit);
}

}  // namespace headrace
