#include "simulator/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace headrace {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014) and Box-Muller: the same numbers on every machine, which
/// the distributions of the standard library do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In (0, 1], so that its logarithm exists.
  double uniform() { return (static_cast<double>(bits() >> 11) + 1) * 0x1p-53; }

  std::uint64_t state_;
};

/// Lognormal with the given mean and standard deviation, as parameters of the normal inside.
struct Lognormal {
  double location = 0;
  double scale = 0;
  double mean = 0;

  Lognormal(Seconds mean_time, Seconds spread) : mean(mean_time.value()) {
    if (mean <= 0 || spread.value() <= 0) return;
    const double variance = std::log1p(std::pow(spread.value() / mean, 2));
    location = std::log(mean) - variance / 2;
    scale = std::sqrt(variance);
  }
  double draw(Random& random) const {
    return scale == 0 ? mean : std::exp(location + scale * random.normal());
  }
};

std::vector<Lognormal> stage_distributions(const SimulationInput& input, std::size_t kind) {
  std::vector<Lognormal> distributions;
  for (const StageCost& cost : input.stages) {
    switch (static_cast<ActionKind>(kind)) {
      case ActionKind::kForward:
        distributions.emplace_back(cost.forward, cost.forward_spread);
        break;
      case ActionKind::kBackward:
        distributions.emplace_back(cost.backward, cost.backward_spread);
        break;
      case ActionKind::kInputGrad:
        distributions.emplace_back(cost.input_grad.value_or(Seconds{0}), cost.input_grad_spread);
        break;
      case ActionKind::kRecompute:
        distributions.emplace_back(cost.recompute, Seconds{0});
        break;
      default:
        distributions.emplace_back(cost.weight_grad.value_or(Seconds{0}), cost.weight_grad_spread);
    }
  }
  return distributions;
}

/// The time of one replica; its random numbers depend on the seed and its number alone.
Result<Seconds> replica_time(SimulationInput& scratch,
                             const std::array<std::vector<Lognormal>, kComputeKinds>& distributions,
                             std::uint64_t seed, int replica) {
  Random random(seed * 0x2545f4914f6cdd1dULL + static_cast<std::uint64_t>(replica) + 1);
  const auto microbatches = static_cast<std::size_t>(scratch.schedule.microbatches);
  for (std::size_t kind = 0; kind < distributions.size(); ++kind) {
    scratch.durations[kind].resize(distributions[kind].size() * microbatches);
    for (std::size_t s = 0; s < distributions[kind].size(); ++s) {
      for (std::size_t m = 0; m < microbatches; ++m) {
        scratch.durations[kind][s * microbatches + m] =
            Seconds(distributions[kind][s].draw(random));
      }
    }
  }
  return simulated_iteration(scratch);
}

Result<void> check(const ReplicaOptions& options) {
  const auto fail = [](std::string where, std::string what, std::string fix) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = std::move(what),
                    .where = std::move(where),
                    .fix = std::move(fix)});
  };
  if (options.replicas < 1 || options.replicas > 1'000'000) {
    return fail("--replicas", fmt::format("{} replicas", options.replicas), "use 1 to 1000000");
  }
  if (!(options.coverage > 0 && options.coverage < 1)) {
    return fail("--coverage", fmt::format("coverage {}", options.coverage), "use 0.9");
  }
  if (options.threads < 1) {
    return fail("--threads", fmt::format("{} threads", options.threads), "use at least 1");
  }
  return {};
}

/// The value below which `share` of the sorted values lie, interpolated.
Seconds quantile(const std::vector<Seconds>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace

Result<Band> iteration_band(const SimulationInput& input, const ReplicaOptions& options) {
  if (auto ok = check(options); !ok) return Failure(ok.error());
  if (auto ok = validate(input.schedule); !ok) return Failure(ok.error());
  if (auto once = simulated_iteration(input); !once) return Failure(once.error());
  std::array<std::vector<Lognormal>, kComputeKinds> distributions;
  for (std::size_t kind = 0; kind < distributions.size(); ++kind) {
    distributions[kind] = stage_distributions(input, kind);
  }
  std::vector<Seconds> times(static_cast<std::size_t>(options.replicas));
  std::vector<std::optional<Error>> errors(static_cast<std::size_t>(options.threads));
  const auto work = [&](int thread) {
    SimulationInput scratch = input;
    for (int replica = thread; replica < options.replicas; replica += options.threads) {
      const auto time = replica_time(scratch, distributions, options.seed, replica);
      if (!time) {
        errors[static_cast<std::size_t>(thread)] = time.error();
        return;
      }
      times[static_cast<std::size_t>(replica)] = *time;
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 1; thread < options.threads; ++thread) threads.emplace_back(work, thread);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) return Failure(*error);
  }
  std::ranges::sort(times);
  return Band{.low = quantile(times, (1 - options.coverage) / 2),
              .median = quantile(times, 0.5),
              .high = quantile(times, (1 + options.coverage) / 2),
              .coverage = options.coverage};
}

}  // namespace headrace
