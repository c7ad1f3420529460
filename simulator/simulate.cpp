#include "simulator/simulate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "simulator/engine.h"
#include "simulator/memory_curve.h"
#include "simulator/schedule_catalogue.h"

namespace headrace {
namespace {

bool trains(const Schedule& schedule) {
  return std::ranges::any_of(schedule.rows, [](const std::vector<Action>& row) {
    return std::ranges::any_of(row, [](const Action& action) {
      return action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
    });
  });
}

Timeline to_timeline(const Schedule& schedule, const ActionTimes& times) {
  Timeline timeline{.source = TimelineSource::kPredicted,
                    .devices = schedule.devices,
                    .stages = schedule.stages,
                    .microbatches = schedule.microbatches};
  timeline.events.reserve(times.start.size());
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    for (std::size_t step = 0; step < schedule.rows[device].size(); ++step) {
      const Action& action = schedule.rows[device][step];
      if (!is_compute(action.kind)) continue;
      const std::size_t place = times.row_begin[device] + step;
      timeline.events.push_back({.device = DeviceId{static_cast<int>(device)},
                                 .action = action,
                                 .start = times.start[place],
                                 .end = times.end[place]});
    }
  }
  return timeline;
}

/// One compute action as a place in a schedule.
struct Place {
  std::size_t device;
  std::size_t step;
};

/// Walks back from the last end: the cause of an action's start is either the action before it on
/// its device or the message it needed; on equal times the device's own order is named.
class CriticalPath {
 public:
  CriticalPath(const SimulationInput& input, const ActionTimes& times)
      : input_(input), schedule_(input.schedule), times_(times) {
    const auto pairs = static_cast<std::size_t>(schedule_.stages) *
                       static_cast<std::size_t>(schedule_.microbatches);
    forward_.resize(pairs);
    backward_.resize(pairs);
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      for (std::size_t step = 0; step < schedule_.rows[device].size(); ++step) {
        const Action& action = schedule_.rows[device][step];
        if (action.kind == ActionKind::kForward) forward_[pair_of(action)] = {device, step};
        if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad) {
          backward_[pair_of(action)] = {device, step};
        }
      }
    }
  }

  [[nodiscard]] std::vector<Action> trace() const {
    std::vector<Action> path;
    std::optional<Place> at = last_to_end();
    while (at) {
      const Action& action = schedule_.rows[at->device][at->step];
      if (is_compute(action.kind)) path.push_back(action);
      at = cause_of(*at);
    }
    std::ranges::reverse(path);
    return path;
  }

 private:
  [[nodiscard]] std::size_t pair_of(const Action& action) const {
    return index_of(action.stage) * static_cast<std::size_t>(schedule_.microbatches) +
           index_of(action.microbatch);
  }
  [[nodiscard]] Seconds start(const Place& place) const {
    return times_.start[times_.row_begin[place.device] + place.step];
  }
  [[nodiscard]] Seconds end(const Place& place) const {
    return times_.end[times_.row_begin[place.device] + place.step];
  }

  [[nodiscard]] std::optional<Place> last_to_end() const {
    std::optional<Place> last;
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      for (std::size_t step = 0; step < schedule_.rows[device].size(); ++step) {
        const Place place{device, step};
        if (is_compute(schedule_.rows[device][step].kind) && (!last || end(place) > end(*last))) {
          last = place;
        }
      }
    }
    return last;
  }

  [[nodiscard]] std::optional<Place> cause_of(const Place& place) const {
    const Place before{place.device, place.step - 1};
    const Seconds own = place.step > 0 ? end(before) : Seconds{0};
    if (start(place) <= own) return place.step > 0 ? std::optional(before) : std::nullopt;
    const Action& action = schedule_.rows[place.device][place.step];
    const bool forward = action.kind == ActionKind::kForward;
    const int source = number_of(action.stage) + (forward ? -1 : 1);
    return (forward
                ? forward_
                : backward_)[pair_of({.stage = StageId{source}, .microbatch = action.microbatch})];
  }

  const SimulationInput& input_;
  const Schedule& schedule_;
  const ActionTimes& times_;
  std::vector<Place> forward_;
  std::vector<Place> backward_;
};

/// What the formula calls the time of a stage: forward and whole backward of one micro-batch.
std::vector<Seconds> stage_times(const SimulationInput& input) {
  const bool with_backward = trains(input.schedule);
  const bool split = splits_backward(input.schedule);
  std::vector<Seconds> times;
  for (const StageCost& cost : input.stages) {
    Seconds time = cost.forward;
    if (with_backward && split) time += *cost.input_grad + *cost.weight_grad;
    if (with_backward && !split) time += cost.backward;
    times.push_back(time);
  }
  return times;
}

/// Makespan of all stages on devices of their own under GPipe with free communication: what is
/// left of the formula's assumptions when only the equality of the stages is dropped.
Result<Seconds> reference_makespan(const SimulationInput& input) {
  SimulationInput reference = input;
  const int stages = input.schedule.stages;
  auto schedule = make_schedule({.name = "gpipe",
                                 .devices = stages,
                                 .stages = stages,
                                 .microbatches = input.schedule.microbatches});
  if (!schedule) return Failure(schedule.error());
  reference.schedule = std::move(*schedule);
  const std::vector<Seconds> whole = stage_times(input);
  for (std::size_t s = 0; s < whole.size(); ++s) {
    reference.stages[s].backward = whole[s] - input.stages[s].forward;
  }
  std::ranges::fill(reference.hop_forward, Seconds{0});
  std::ranges::fill(reference.hop_backward, Seconds{0});
  return time_makespan(reference);
}

Result<Formula> textbook_formula(const SimulationInput& input, Seconds makespan,
                                 Seconds iteration) {
  const std::vector<Seconds> times = stage_times(input);
  Formula formula;
  formula.total = static_cast<double>(input.schedule.microbatches + input.schedule.stages - 1) *
                  *std::ranges::max_element(times);
  const auto reference = reference_makespan(input);
  if (!reference) return Failure(reference.error());
  SimulationInput without_hops = input;
  std::ranges::fill(without_hops.hop_forward, Seconds{0});
  std::ranges::fill(without_hops.hop_backward, Seconds{0});
  const auto free_communication = time_makespan(without_hops);
  if (!free_communication) return Failure(free_communication.error());
  formula.assumptions = {{"equal_stages", *reference - formula.total},
                         {"schedule", *free_communication - *reference},
                         {"hidden_communication", makespan - *free_communication},
                         {"no_fixed_cost", iteration - makespan}};
  if (iteration > Seconds{0}) formula.relative_error = ratio(formula.total - iteration, iteration);
  return formula;
}

void fill_memory(SimulationOutcome& outcome, const SimulationInput& input) {
  MemoryUse use = memory_use(outcome.timeline, input);
  for (std::size_t d = 0; d < outcome.report.per_device.size(); ++d) {
    DeviceReport& device = outcome.report.per_device[d];
    device.peak_activations = use.peak_activations[d];
    device.memory_items = use.peak_items[d];
    device.peak_memory = use.peak_items[d].total();
  }
  outcome.timeline.memory = std::move(use.curve);
}

void fill_rates(Simulation& report, const SimulationInput& input) {
  if (report.iteration <= Seconds{0}) return;
  report.microbatches_per_s =
      static_cast<double>(input.schedule.microbatches) / report.iteration.value();
  if (input.global_batch) {
    report.samples_per_s = static_cast<double>(*input.global_batch) / report.iteration.value();
  }
}

}  // namespace

Result<SimulationOutcome> simulate(const SimulationInput& input) {
  if (auto ok = validate(input.schedule); !ok) return Failure(ok.error());
  const auto times = time_actions(input);
  if (!times) return Failure(times.error());
  SimulationOutcome outcome;
  outcome.timeline = to_timeline(input.schedule, *times);
  outcome.report = account(outcome.timeline, input.schedule.device_of_stage, input.hop_forward,
                           input.hop_backward);
  outcome.report.schedule = input.schedule.name;
  outcome.report.iteration = outcome.report.makespan + input.optimizer;
  auto formula = textbook_formula(input, outcome.report.makespan, outcome.report.iteration);
  if (!formula) return Failure(formula.error());
  outcome.report.formula = std::move(*formula);
  outcome.report.critical_path = CriticalPath(input, *times).trace();
  fill_rates(outcome.report, input);
  fill_memory(outcome, input);
  return outcome;
}

Result<Seconds> simulated_iteration(const SimulationInput& input) {
  const auto makespan = time_makespan(input);
  if (!makespan) return Failure(makespan.error());
  return *makespan + input.optimizer;
}

}  // namespace headrace
