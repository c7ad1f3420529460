#include "simulator/steady_state.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace headrace {
namespace {

constexpr int kLongestPeriod = 256;

/// Rounds every time to a multiple of 2^-32 of the longest: sums of up to 2^20 of them are exact.
class Rounding {
 public:
  explicit Rounding(const SimulationInput& input) {
    double longest = 0;
    visit(input, [&](const Seconds& time) { longest = std::max(longest, time.value()); });
    if (longest > 0) unit_ = std::ldexp(1.0, std::ilogb(longest) - 31);
  }

  void apply(SimulationInput& input) const {
    if (unit_ == 0) return;
    visit(input, [&](Seconds& time) { time = Seconds(std::round(time.value() / unit_) * unit_); });
  }

 private:
  template <typename Input, typename Visit>
  static void visit(Input& input, Visit visit_time) {
    for (auto& stage : input.stages) {
      visit_time(stage.forward);
      visit_time(stage.backward);
      visit_time(stage.recompute);
      if (stage.input_grad) visit_time(*stage.input_grad);
      if (stage.weight_grad) visit_time(*stage.weight_grad);
    }
    for (auto& hop : input.hop_forward) visit_time(hop);
    for (auto& hop : input.hop_backward) visit_time(hop);
  }

  double unit_ = 0;
};

/// When and where in its row every (kind, stage, micro-batch) stands.
class Steps {
 public:
  explicit Steps(const Timeline& timeline)
      : microbatches_(static_cast<std::size_t>(timeline.microbatches)),
        lists_(kComputeKinds * static_cast<std::size_t>(timeline.stages)) {
    std::vector<int> position(static_cast<std::size_t>(timeline.devices));
    for (const TimelineEvent& event : timeline.events) {
      if (!is_compute(event.action.kind)) continue;
      auto& list = lists_[kComputeKinds * index_of(event.action.stage) +
                          static_cast<std::size_t>(event.action.kind)];
      if (list.empty()) list.resize(microbatches_);
      list[index_of(event.action.microbatch)] = {event.start.value(), event.end.value(),
                                                 position[index_of(event.device)]++};
    }
  }

  /// The time by which the middle third repeats after `period` micro-batches; nothing where it
  /// does not.
  [[nodiscard]] std::optional<double> shift(std::size_t period) const {
    std::optional<double> shift;
    for (const auto& list : lists_) {
      std::optional<int> places;
      for (std::size_t m = microbatches_ / 3 + period; !list.empty() && m < 2 * microbatches_ / 3;
           ++m) {
        const Step& now = list[m];
        const Step& before = list[m - period];
        if (!shift) shift = now.start - before.start;
        if (!places) places = now.place - before.place;
        if (now.start - before.start != *shift || now.end - before.end != *shift ||
            now.place - before.place != *places) {
          return std::nullopt;
        }
      }
    }
    return shift;
  }

 private:
  struct Step {
    double start = 0;
    double end = 0;
    int place = 0;
  };
  std::size_t microbatches_;
  std::vector<std::vector<Step>> lists_;  ///< By stage and kind; empty where there is none.
};

struct Period {
  int microbatches = 0;
  double time = 0;
};

std::optional<Period> find_period(const Timeline& timeline) {
  const Steps steps(timeline);
  const int longest = std::min(kLongestPeriod, timeline.microbatches / 6);
  for (int period = 1; period <= longest; ++period) {
    const auto shift = steps.shift(static_cast<std::size_t>(period));
    if (shift && *shift > 0) return Period{.microbatches = period, .time = *shift};
  }
  return std::nullopt;
}

/// `value` at the short run plus `times` what one period adds.
Seconds extended(Seconds shorter, Seconds longer, double times) {
  return shorter + (longer - shorter) * times;
}

Simulation extend(const Simulation& shorter, const Simulation& longer, double times,
                  int microbatches) {
  Simulation result = longer;
  result.microbatches = microbatches;
  for (Seconds Simulation::*field :
       {&Simulation::makespan, &Simulation::makespan_bound, &Simulation::span,
        &Simulation::iteration, &Simulation::iteration_without_barrier, &Simulation::ideal}) {
    result.*field = extended(shorter.*field, longer.*field, times);
  }
  double bubbles = 0;
  for (std::size_t d = 0; d < result.per_device.size(); ++d) {
    DeviceReport& device = result.per_device[d];
    for (Seconds DeviceReport::*field : {&DeviceReport::busy, &DeviceReport::exposed_communication,
                                         &DeviceReport::wait, &DeviceReport::idle}) {
      device.*field = extended(shorter.per_device[d].*field, longer.per_device[d].*field, times);
    }
    device.utilisation = ratio(device.busy, result.makespan);
    bubbles += 1 - device.utilisation;
  }
  result.bubble_ratio = bubbles / static_cast<double>(result.per_device.size());
  result.bubble_overhead = ratio(result.makespan, result.ideal) - 1;
  result.microbatches_per_s = microbatches / result.iteration.value();
  if (result.samples_per_s) {
    const double per_microbatch = *longer.samples_per_s / longer.microbatches_per_s;
    result.samples_per_s = result.microbatches_per_s * per_microbatch;
  }
  result.formula.total = extended(shorter.formula.total, longer.formula.total, times);
  for (std::size_t i = 0; i < result.formula.assumptions.size(); ++i) {
    result.formula.assumptions[i].cost =
        extended(shorter.formula.assumptions[i].cost, longer.formula.assumptions[i].cost, times);
  }
  result.formula.relative_error = ratio(result.formula.total - result.iteration, result.iteration);
  result.critical_path.clear();
  return result;
}

bool can_repeat(const SimulationInput& input) {
  return input.schedule.pipelines == 1 && input.schedule.pieces == 1 && input.schedule.flushes &&
         std::ranges::all_of(input.durations, [](const auto& list) { return list.empty(); });
}

Result<SimulationOutcome> short_run(const InputOfLength& input_of, int microbatches) {
  auto input = input_of(microbatches);
  if (!input) return Failure(input.error());
  Rounding(*input).apply(*input);
  return simulate(*input);
}

}  // namespace

std::optional<Simulation> simulate_long(const InputOfLength& input_of, int microbatches) {
  int shortest = 128;
  auto probe = input_of(shortest);
  if (!probe || !can_repeat(*probe)) return std::nullopt;
  shortest = std::max(shortest, 16 * probe->schedule.stages);
  for (int length = shortest; length < microbatches / 4; length *= 4) {
    const auto first = short_run(input_of, length);
    if (!first) continue;  // Not every count is legal for every schedule.
    const auto period = find_period(first->timeline);
    if (!period) continue;
    // Of the same remainder as the long run, so that whole periods are missing.
    const int step = period->microbatches;
    const int shorter = length + (microbatches - length) % step;
    const auto low = short_run(input_of, shorter);
    if (!low) continue;
    const auto high = short_run(input_of, shorter + step);
    if (!high) continue;
    // The rows between must have grown by one period and nothing else.
    const Seconds grown = high->report.makespan - low->report.makespan;
    if (std::abs(grown.value() - period->time) > 1e-12 * high->report.makespan.value()) continue;
    const double times = static_cast<double>(microbatches - shorter) / step;
    return extend(low->report, high->report, times, microbatches);
  }
  return std::nullopt;
}

}  // namespace headrace
