#include "simulator/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "simulator/random.h"

namespace headrace {
namespace {

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

/// Slowdowns of one replica: a factor per device, one per border between stages.
std::vector<double> drawn_factors(std::size_t count, const Slowdown& slowdown, Random& random) {
  std::vector<double> factors(count, 1);
  if (slowdown.probability <= 0) return factors;
  for (double& factor : factors) {
    if (random.uniform() <= slowdown.probability) factor = slowdown.factor;
  }
  return factors;
}

void slow_down_links(const SimulationInput& input, const std::vector<double>& factors,
                     SimulationInput& scratch) {
  for (std::size_t s = 0; s < factors.size(); ++s) {
    scratch.hop_forward[s] = input.hop_forward[s] * factors[s];
    scratch.hop_backward[s] = input.hop_backward[s] * factors[s];
    const auto scale = [&](const std::vector<MessagePath>& from, std::vector<MessagePath>& to) {
      if (from.empty()) return;
      to[s].latency = from[s].latency * factors[s];
      to[s].size = Bytes(std::llround(static_cast<double>(from[s].size.value()) * factors[s]));
    };
    scale(input.communication.forward_path, scratch.communication.forward_path);
    scale(input.communication.backward_path, scratch.communication.backward_path);
  }
}

/// The time of one replica; its random numbers depend on the seed and its number alone.
Result<Seconds> replica_time(const SimulationInput& input, SimulationInput& scratch,
                             const std::array<std::vector<Lognormal>, kComputeKinds>& distributions,
                             const ReplicaOptions& options, int replica) {
  Random random(options.seed, static_cast<std::uint64_t>(replica));
  const auto microbatches = static_cast<std::size_t>(scratch.schedule.microbatches);
  const std::vector<double> slow =
      drawn_factors(scratch.schedule.rows.size(), options.straggler, random);
  if (options.slow_link.probability > 0) {
    slow_down_links(input, drawn_factors(input.stages.size(), options.slow_link, random), scratch);
  }
  for (std::size_t kind = 0; kind < distributions.size(); ++kind) {
    scratch.durations[kind].resize(distributions[kind].size() * microbatches);
    for (std::size_t s = 0; s < distributions[kind].size(); ++s) {
      const double factor = slow[index_of(scratch.schedule.device_of_stage[s])];
      const std::vector<Seconds>* samples =
          input.samples[kind].empty() || input.samples[kind][s].empty() ? nullptr
                                                                        : &input.samples[kind][s];
      for (std::size_t m = 0; m < microbatches; ++m) {
        const std::size_t place = s * microbatches + m;
        const Seconds time = samples != nullptr ? (*samples)[random.index(samples->size())]
                             : input.durations[kind].empty()
                                 ? Seconds(distributions[kind][s].draw(random))
                                 : input.durations[kind][place];
        scratch.durations[kind][place] = time * factor;
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
  for (const auto& [slowdown, flag] :
       {std::pair{options.straggler, "--straggler"}, std::pair{options.slow_link, "--slow-link"}}) {
    if (slowdown.probability >= 0 && slowdown.probability <= 1 && slowdown.factor >= 1 &&
        slowdown.factor <= 1e6) {
      continue;
    }
    return fail(flag,
                fmt::format("probability {}, factor {}", slowdown.probability, slowdown.factor),
                "use a probability from 0 to 1 and a factor of at least 1: 1%,1.5");
  }
  if (options.threads < 1) {
    return fail("--threads", fmt::format("{} threads", options.threads), "use at least 1");
  }
  return {};
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
      const auto time = replica_time(input, scratch, distributions, options, replica);
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
