// Seeded random numbers that are the same on every machine, and quantiles of what they gave.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/units.h"

namespace headrace {

/// SplitMix64 (Steele, Lea, Flood 2014) and Box-Muller: the distributions of the standard library
/// do not promise equal numbers everywhere.
class Random {
 public:
  /// The numbers depend on the seed and the number of the replica alone.
  Random(std::uint64_t seed, std::uint64_t replica)
      : state_(seed * 0x2545f4914f6cdd1dULL + replica + 1) {}

  /// In (0, 1], so that its logarithm exists.
  double uniform() { return (static_cast<double>(bits() >> 11) + 1) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  /// 0 … count - 1.
  std::size_t index(std::size_t count) { return static_cast<std::size_t>(bits() % count); }

 private:
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

/// The value below which `share` of the sorted values lie, interpolated.
inline Seconds quantile(const std::vector<Seconds>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = below + 1 < sorted.size() ? below + 1 : below;
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace headrace
