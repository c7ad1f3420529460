#include "simulator/failures.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "simulator/random.h"

namespace headrace {
namespace {

constexpr double kHopeless = 1000;

/// Expected time of one interval of useful work over the useful work, Daly's equation 13.
double stretch(double interval, const FailureModel& model, double mean) {
  const double cost = model.checkpoint_cost.value();
  return mean * std::exp(model.restart_cost.value() / mean) * std::expm1((interval + cost) / mean) /
         interval;
}

/// The interval with the least stretch, which has one minimum: golden-section search on its
/// logarithm around Young's square root of 2 C M.
double best_interval(const FailureModel& model, double mean) {
  if (model.checkpoint_cost <= Seconds{0}) return 0;
  const double young = std::sqrt(2 * model.checkpoint_cost.value() * mean);
  double low = std::log(young) - 8;
  double high = std::log(young) + 8;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  for (int step = 0; step < 80; ++step) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    const bool keep_left =
        stretch(std::exp(left), model, mean) < stretch(std::exp(right), model, mean);
    (keep_left ? high : low) = keep_left ? right : left;
  }
  return std::exp((low + high) / 2);
}

/// Wall time of one run of `model.run` useful seconds.
double one_run(const FailureModel& model, double interval, double mean, Random& random) {
  double left = model.run.value();
  double wall = 0;
  double next_failure = random.exponential(mean);
  while (left > 0) {
    const double work = std::min(interval, left);
    const double segment = work + (work < left ? model.checkpoint_cost.value() : 0);
    if (next_failure >= segment) {
      next_failure -= segment;
      wall += segment;
      left -= work;
      continue;
    }
    wall += next_failure;
    do {  // A failure during the restart starts it again.
      next_failure = random.exponential(mean);
      wall += std::min(next_failure, model.restart_cost.value());
    } while (next_failure < model.restart_cost.value());
    next_failure -= model.restart_cost.value();
  }
  return wall;
}

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

}  // namespace

Result<Goodput> goodput(Seconds iteration, const FailureModel& model) {
  if (model.time_between_failures <= Seconds{0}) {
    return usage("the time between failures is 0 s", "--mtbf", "give a device's, like 50000h");
  }
  if (iteration <= Seconds{0}) return usage("an iteration of 0 s", "--mtbf", "give stage times");
  const double mean = model.time_between_failures.value() / model.devices;
  const double best = best_interval(model, mean);
  // Without a checkpoint cost every iteration can be saved.
  const double interval =
      std::max(iteration.value(),
               model.checkpoint_interval > Seconds{0} ? model.checkpoint_interval.value() : best);
  const double factor = stretch(interval, model, mean);
  if (!(factor < kHopeless)) {
    return Failure(
        {.code = ErrorCode::kInfeasible,
         .what = fmt::format("with a failure every {} and {} between checkpoints the run does not "
                             "come forward",
                             to_text(Seconds(mean)), to_text(Seconds(interval))),
         .where = "--checkpoint-every",
         .fix = best > 0 ? fmt::format("checkpoint every {}", to_text(Seconds(best)))
                         : "checkpoint more often"});
  }
  std::vector<Seconds> times;
  for (int replica = 0; replica < model.replicas; ++replica) {
    Random random(model.seed, static_cast<std::uint64_t>(replica));
    times.push_back(iteration * (one_run(model, interval, mean, random) / model.run.value()));
  }
  std::ranges::sort(times);
  return Goodput{.availability = 1 / factor,
                 .effective_iteration = iteration * factor,
                 .band = {.low = quantile(times, 0.05),
                          .median = quantile(times, 0.5),
                          .high = quantile(times, 0.95),
                          .coverage = 0.9},
                 .checkpoint_interval = Seconds(interval),
                 .best_interval = Seconds(std::max(best, iteration.value()))};
}

}  // namespace headrace
