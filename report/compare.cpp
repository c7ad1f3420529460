#include "report/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "report/explanation.h"

namespace headrace {
namespace {

Failure different(std::string_view noun, int predicted, int measured) {
  return Failure(
      {.code = ErrorCode::kBadInput,
       .what = fmt::format("{} {} were predicted and {} measured", predicted, noun, measured),
       .where = "measured timeline",
       .fix = "compare a run with the prediction of the same plan and schedule"});
}

Result<void> check_shapes(const Simulation& simulation, const Timeline& predicted,
                          const Timeline& measured) {
  if (simulation.stages != measured.stages || predicted.stages != measured.stages) {
    return different("stages", predicted.stages, measured.stages);
  }
  if (simulation.devices != measured.devices || predicted.devices != measured.devices) {
    return different("devices", predicted.devices, measured.devices);
  }
  if (simulation.microbatches != measured.microbatches ||
      predicted.microbatches != measured.microbatches) {
    return different("micro-batches", predicted.microbatches, measured.microbatches);
  }
  if (!(makespan_of(measured) > Seconds{0})) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = "no compute action was measured",
                    .where = "measured timeline",
                    .fix = "give a timeline that `headrace run` wrote"});
  }
  return {};
}

/// Value at `part` of the sorted `values`, between neighbours by weight.
double quantile(const std::vector<double>& values, double part) {
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

struct MeasuredIteration {
  Seconds median{0};
  double noise_floor = 0;
};

MeasuredIteration measured_iteration(const Timeline& measured) {
  std::vector<double> times;
  for (const IterationTime& time : measured.iterations) times.push_back(time.iteration.value());
  if (times.empty()) return {.median = makespan_of(measured)};
  std::ranges::sort(times);
  const double median = quantile(times, 0.5);
  if (!(median > 0)) return {.median = makespan_of(measured)};
  return {.median = Seconds(median),
          .noise_floor = (quantile(times, 0.75) - quantile(times, 0.25)) / 2 / median};
}

/// Mean time of one stage's forward and of its whole backward.
struct StageMeans {
  Seconds forward{0};
  Seconds backward{0};
};

std::vector<StageMeans> stage_means(const Timeline& timeline) {
  std::vector<StageMeans> sums(static_cast<std::size_t>(timeline.stages));
  for (const TimelineEvent& event : timeline.events) {
    if (!is_compute(event.action.kind)) continue;
    StageMeans& sum = sums[index_of(event.action.stage)];
    const bool forward = event.action.kind == ActionKind::kForward;
    (forward ? sum.forward : sum.backward) += event.end - event.start;
  }
  // Every micro-batch passes every stage once, so a sum over them is that many backwards, whether
  // each was one B or an I and a W.
  for (StageMeans& sum : sums) {
    sum.forward = sum.forward / timeline.microbatches;
    sum.backward = sum.backward / timeline.microbatches;
  }
  return sums;
}

double error_or_zero(Seconds predicted, Seconds measured) {
  return measured > Seconds{0} ? relative_error(predicted, measured) : 0;
}

/// (micro-batches + stages - 1) x slowest stage, from the stages of a predicted timeline.
Seconds formula_of(const Timeline& predicted) {
  Seconds slowest{0};
  for (const StageMeans& mean : stage_means(predicted)) {
    slowest = std::max(slowest, mean.forward + mean.backward);
  }
  return slowest * static_cast<double>(predicted.microbatches + predicted.stages - 1);
}

/// Nothing where the prediction has totals only.
std::vector<StageComparison> compare_stages(const Timeline& predicted, const Timeline& measured) {
  if (predicted.events.empty()) return {};
  const std::vector<StageMeans> expected = stage_means(predicted);
  const std::vector<StageMeans> found = stage_means(measured);
  std::vector<StageComparison> stages;
  for (std::size_t s = 0; s < expected.size(); ++s) {
    stages.push_back({.stage = static_cast<int>(s),
                      .predicted_forward = expected[s].forward,
                      .measured_forward = found[s].forward,
                      .predicted_backward = expected[s].backward,
                      .measured_backward = found[s].backward,
                      .forward_error = error_or_zero(expected[s].forward, found[s].forward),
                      .backward_error = error_or_zero(expected[s].backward, found[s].backward)});
  }
  return stages;
}

std::vector<MemoryComparison> compare_memory(const Simulation& predicted,
                                             const Timeline& measured) {
  std::vector<MemoryComparison> memory;
  bool any = false;
  for (std::size_t d = 0; d < predicted.per_device.size(); ++d) {
    MemoryComparison device{.device = static_cast<int>(d),
                            .predicted = predicted.per_device[d].peak_memory,
                            .measured = std::nullopt};
    for (const MemorySample& sample : measured.memory) {
      if (index_of(sample.device) != d) continue;
      device.measured = std::max(device.measured.value_or(Bytes{0}), sample.bytes);
    }
    any = any || device.predicted > Bytes{0} || device.measured.value_or(Bytes{0}) > Bytes{0};
    memory.push_back(device);
  }
  return any ? memory : std::vector<MemoryComparison>{};
}

}  // namespace

Result<Comparison> compare(const Simulation& predicted, const Timeline& predicted_timeline,
                           const Timeline& measured) {
  if (auto ok = check_shapes(predicted, predicted_timeline, measured); !ok) {
    return Failure(ok.error());
  }
  const MeasuredIteration iteration = measured_iteration(measured);
  const DifferenceInput difference{.predicted = predicted_timeline,
                                   .measured = measured,
                                   .predicted_iteration = predicted.iteration,
                                   .measured_iteration = iteration.median};
  const auto parts = difference_parts(difference);
  if (!parts) return Failure(parts.error());

  const Seconds formula = predicted.formula.total > Seconds{0} ? predicted.formula.total
                                                               : formula_of(predicted_timeline);
  Comparison comparison{.predicted = predicted.iteration,
                        .measured = iteration.median,
                        .relative_error = relative_error(predicted.iteration, iteration.median),
                        .formula = formula,
                        .formula_error = relative_error(formula, iteration.median),
                        .inside_band = std::nullopt,
                        .noise_floor = iteration.noise_floor,
                        .per_stage = compare_stages(predicted_timeline, measured),
                        .memory = compare_memory(predicted, measured),
                        .explanation = explanation_of(*parts, difference, iteration.noise_floor)};
  if (predicted.band) {
    comparison.inside_band =
        predicted.band->low <= iteration.median && iteration.median <= predicted.band->high;
  }
  return comparison;
}

}  // namespace headrace
