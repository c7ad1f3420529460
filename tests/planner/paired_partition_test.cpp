#include "planner/paired_partition.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace headrace {
namespace {

TEST_SUITE_BEGIN("planner/paired_partition");

/// The least busiest device over all cuts into non-empty stages, by trying all.
std::int64_t by_force(const std::vector<std::int64_t>& weights, Borders& borders, int stages,
                      PairPlacement placement) {
  const auto layers = static_cast<int>(weights.size());
  if (static_cast<int>(borders.size()) == stages) {
    borders.push_back(layers);
    const std::int64_t busiest = busiest_pair(weights, borders, placement);
    borders.pop_back();
    return busiest;
  }
  const int left = stages - static_cast<int>(borders.size());
  std::int64_t best = INT64_MAX;
  for (int next = borders.back() + 1; next <= layers - left; ++next) {
    borders.push_back(next);
    best = std::min(best, by_force(weights, borders, stages, placement));
    borders.pop_back();
  }
  return best;
}

TEST_CASE("both placements agree with trying all cuts") {
  const int rounds = std::getenv("HEADRACE_LONG_TESTS") != nullptr ? 100'000 : 1'500;
  std::mt19937 random(5);
  for (int round = 0; round < rounds; ++round) {
    const int devices = 1 + static_cast<int>(random() % 4);
    const int most = devices == 4 ? 3 : 6;
    const int layers = 2 * devices + static_cast<int>(random() % static_cast<unsigned>(most));
    // Few distinct weights make ties and empty pieces, zeros too; sometimes one is heavy.
    const unsigned range = round % 3 == 0 ? 4 : 100;
    std::vector<std::int64_t> weights;
    for (int i = 0; i < layers; ++i) weights.push_back(random() % range);
    if (round % 4 == 0) weights[random() % weights.size()] = 3 * range;
    for (const PairPlacement placement : {PairPlacement::kLoop, PairPlacement::kV}) {
      Borders borders = {0};
      const std::int64_t least = by_force(weights, borders, 2 * devices, placement);
      const PairedPartition cut = partition_pairs(weights, devices, placement);
      REQUIRE(cut.exact);
      REQUIRE(cut.busiest == least);
      REQUIRE(cut.bound == least);
      REQUIRE(busiest_pair(weights, cut.borders, placement) == least);
      REQUIRE(cut.borders.size() == static_cast<std::size_t>(2 * devices) + 1);
      REQUIRE(std::ranges::adjacent_find(cut.borders, std::greater_equal<>()) == cut.borders.end());
    }
  }
}

TEST_CASE("scaling scales, and splitting a layer in two is never worse") {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> weights;
    for (int i = 0; i < 24; ++i) weights.push_back(1 + static_cast<std::int64_t>(random() % 50));
    for (const PairPlacement placement : {PairPlacement::kLoop, PairPlacement::kV}) {
      const auto plain = partition_pairs(weights, 4, placement);
      std::vector<std::int64_t> scaled = weights;
      for (std::int64_t& weight : scaled) weight *= 7;
      CHECK(partition_pairs(scaled, 4, placement).busiest == 7 * plain.busiest);
      std::vector<std::int64_t> split = scaled;
      const auto place = split.begin() + static_cast<std::ptrdiff_t>(random() % split.size());
      const std::int64_t half = *place / 2;
      *place -= half;
      split.insert(place, half);
      CHECK(partition_pairs(split, 4, placement).busiest <= 7 * plain.busiest);
    }
  }
}

TEST_CASE("a heavy head is not in the way where another piece can be small") {
  // 16 layers and a head of 4 on 4 devices: 20 / 4 = 5, the loop reaches it, the chain cannot.
  std::vector<std::int64_t> weights(16, 1);
  weights.push_back(4);
  CHECK(partition_pairs(weights, 4, PairPlacement::kLoop).busiest == 5);
  CHECK(partition_pairs(weights, 4, PairPlacement::kV).busiest == 5);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
