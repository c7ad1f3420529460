#include "simulator/simulate.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "simulator/critical_path.h"
#include "simulator/engine.h"
#include "simulator/event_engine.h"
#include "simulator/iteration_end.h"
#include "simulator/lowering.h"
#include "simulator/memory_curve.h"
#include "simulator/schedule_bounds.h"
#include "simulator/schedule_catalogue.h"

namespace headrace {
namespace {

Timeline to_timeline(const Schedule& schedule, const ActionTimes& times) {
  Timeline timeline{.source = TimelineSource::kPredicted,
                    .devices = schedule.devices,
                    .stages = schedule.stages,
                    .microbatches = schedule.microbatches,
                    .pipelines = schedule.pipelines};
  timeline.events.reserve(times.start.size());
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    for (std::size_t step = 0; step < schedule.rows[device].size(); ++step) {
      const Action& action = schedule.rows[device][step];
      if (!is_compute(action.kind) && !is_copy(action.kind)) continue;
      const std::size_t place = times.row_begin[device] + step;
      timeline.events.push_back({.device = DeviceId{static_cast<int>(device)},
                                 .action = action,
                                 .start = times.start[place],
                                 .end = times.end[place]});
    }
  }
  return timeline;
}

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
  reference.communication = {};
  const int stages = input.schedule.stages / input.schedule.pipelines;
  const int pieces = input.schedule.pieces;
  auto schedule = make_schedule({.name = "gpipe",
                                 .devices = stages,
                                 .stages = stages,
                                 .microbatches = input.schedule.microbatches / pieces});
  if (!schedule) return Failure(schedule.error());
  reference.schedule = std::move(*schedule);
  const std::vector<Seconds> whole = stage_times(input);
  const auto count = static_cast<std::size_t>(stages);
  reference.stages.resize(count);
  for (std::size_t s = 0; s < count; ++s) {
    reference.stages[s].forward = input.stages[s].forward * pieces;
    reference.stages[s].backward = (whole[s] - input.stages[s].forward) * pieces;
  }
  // One cost for all micro-batches, as the formula has it.
  reference.durations = {};
  reference.hop_forward.assign(count, Seconds{0});
  reference.hop_backward.assign(count, Seconds{0});
  return time_makespan(reference);
}

Result<Formula> textbook_formula(const SimulationInput& input, Seconds makespan,
                                 Seconds iteration) {
  const std::vector<Seconds> times = stage_times(input);
  Formula formula;
  const int stages = input.schedule.stages / input.schedule.pipelines;
  const int pieces = input.schedule.pieces;
  formula.total = static_cast<double>(input.schedule.microbatches / pieces + stages - 1) * pieces *
                  *std::ranges::max_element(times);
  const auto reference = reference_makespan(input);
  if (!reference) return Failure(reference.error());
  SimulationInput without_hops = input;
  without_hops.communication = {};
  std::ranges::fill(without_hops.hop_forward, Seconds{0});
  std::ranges::fill(without_hops.hop_backward, Seconds{0});
  const auto free_communication = time_makespan(without_hops);
  if (!free_communication) return Failure(free_communication.error());
  // Without flush the iteration is no longer than its makespan: that is the schedule's doing.
  const Seconds undrained = input.schedule.flushes ? Seconds{0} : iteration - makespan;
  formula.assumptions = {{"equal_stages", *reference - formula.total},
                         {"schedule", *free_communication - *reference + undrained},
                         {"hidden_communication", makespan - *free_communication},
                         {"no_fixed_cost", iteration - makespan - undrained}};
  if (iteration > Seconds{0}) formula.relative_error = ratio(formula.total - iteration, iteration);
  return formula;
}

void add_events(Timeline& timeline, std::vector<TimelineEvent> events) {
  if (events.empty()) return;
  timeline.events.insert(timeline.events.end(), events.begin(), events.end());
  std::ranges::stable_sort(timeline.events, {}, [](const TimelineEvent& event) {
    return std::tuple(event.device, event.start);
  });
}

void fill_memory(SimulationOutcome& outcome, const SimulationInput& input) {
  MemoryUse use = memory_use(outcome.timeline, input);
  for (std::size_t d = 0; d < outcome.report.per_device.size(); ++d) {
    DeviceReport& device = outcome.report.per_device[d];
    device.peak_activations = use.peak_activations[d];
    device.memory_items = use.peak_items[d];
    device.peak_memory = use.peak_items[d].total();
    device.peak_host_memory = use.peak_host[d];
    if (!input.capacity.empty()) device.capacity = input.capacity[d];
  }
  outcome.timeline.memory = std::move(use.curve);
}

/// Over all orders of the stages, devices and messages of `input`, memory left aside.
Seconds makespan_bound(const SimulationInput& input) {
  ScheduleCosts costs = schedule_costs(input);
  if (!splits_backward(input.schedule)) {
    for (std::size_t s = 0; s < input.stages.size(); ++s) {
      costs.input_grad[s] = input.stages[s].backward;
      costs.weight_grad[s] = Seconds{0};
    }
  }
  if (std::ranges::any_of(input.durations, [](const auto& list) { return !list.empty(); })) {
    return Seconds{0};  // Micro-batches that differ are outside the bound's argument.
  }
  return lower_bound(pipeline_task(std::move(costs), input.schedule.device_of_stage,
                                   input.schedule.devices, input.schedule.microbatches),
                     ScheduleObjective::kMakespan);
}

void fill_rates(Simulation& report, const SimulationInput& input) {
  if (report.iteration <= Seconds{0}) return;
  const int microbatches = input.schedule.microbatches / input.schedule.pieces;
  report.microbatches_per_s = static_cast<double>(microbatches) / report.iteration.value();
  if (input.global_batch) {
    report.samples_per_s = static_cast<double>(*input.global_batch) / report.iteration.value();
  }
}

bool is_plain(const CommunicationModel& model) {
  return model.semantics == CommunicationSemantics::kAsync &&
         model.streams == CommunicationStreams::kUnlimited && model.resources.empty() &&
         model.compute_slowdown == 1;
}

/// The input with the sends and receives that its semantics need.
Result<SimulationInput> with_messages(const SimulationInput& input) {
  SimulationInput lowered = input;
  if (has_messages(input.schedule)) return lowered;
  const bool batched = input.communication.semantics == CommunicationSemantics::kBatched;
  auto schedule = lower(input.schedule, {.defer_receives = batched});
  if (!schedule) return Failure(schedule.error());
  lowered.schedule = std::move(*schedule);
  return lowered;
}

/// `input` is plain async, or lowered.
Result<SimulationOutcome> simulate_prepared(const SimulationInput& input) {
  const auto times =
      is_plain(input.communication) ? time_actions(input) : time_events(input, input.communication);
  if (!times) return Failure(times.error());
  SimulationOutcome outcome;
  outcome.timeline = to_timeline(input.schedule, *times);
  outcome.report = account(outcome.timeline, input.schedule.device_of_stage, input.hop_forward,
                           input.hop_backward);
  outcome.report.microbatches = input.schedule.microbatches / input.schedule.pieces;
  outcome.report.schedule = input.schedule.name;
  outcome.report.communication = std::string(name_of(input.communication.semantics));
  IterationEnd end = iteration_end(input, *times);
  outcome.report.iteration = end.iteration;
  outcome.report.iteration_without_barrier = end.without_barrier;
  if (!input.schedule.flushes) {
    outcome.report.steady_microbatch = steady_microbatch(input, *times);
    outcome.report.iteration =
        *outcome.report.steady_microbatch * static_cast<double>(input.schedule.microbatches);
    outcome.report.iteration_without_barrier = outcome.report.iteration;
  }
  auto formula = textbook_formula(input, outcome.report.makespan, outcome.report.iteration);
  if (!formula) return Failure(formula.error());
  outcome.report.formula = std::move(*formula);
  outcome.report.critical_path = critical_path(input.schedule, *times);
  if (input.schedule.pipelines == 1 && trains(input.schedule) && !input.overlap_share) {
    outcome.report.makespan_bound = makespan_bound(input);
  }
  if (input.explain) {
    outcome.report.explanation = causal_chain(input.schedule, *times, *input.explain);
    if (outcome.report.explanation.empty()) {
      return Failure({.code = ErrorCode::kUsage,
                      .what = fmt::format("the schedule has no {}", to_string(*input.explain)),
                      .where = "--explain",
                      .fix = "name one of its actions, such as 0F0"});
    }
  }
  fill_rates(outcome.report, input);
  fill_memory(outcome, input);
  add_events(outcome.timeline, std::move(end.events));
  return outcome;
}

}  // namespace

Result<SimulationOutcome> simulate(const SimulationInput& input) {
  if (auto ok = validate(input.schedule); !ok) return Failure(ok.error());
  if (auto ok = check_costs(input); !ok) return Failure(ok.error());
  if (is_plain(input.communication)) return simulate_prepared(input);
  const auto lowered = with_messages(input);
  if (!lowered) return Failure(lowered.error());
  return simulate_prepared(*lowered);
}

Result<Seconds> simulated_iteration(const SimulationInput& input) {
  const bool plain = is_plain(input.communication);
  const bool has_end = !input.tied.empty() || !input.schedule.flushes ||
                       std::ranges::any_of(input.stages, [](const StageCost& cost) {
                         return cost.reduce_gradient > Seconds{0};
                       });
  if (plain && !has_end) {
    const auto makespan = time_makespan(input);
    if (!makespan) return Failure(makespan.error());
    return trains(input.schedule) ? *makespan + input.optimizer : *makespan;
  }
  if (auto ok = check_costs(input); !ok) return Failure(ok.error());
  SimulationInput lowered;
  if (!plain) {
    auto messages = with_messages(input);
    if (!messages) return Failure(messages.error());
    lowered = *std::move(messages);
  }
  const SimulationInput& ready = plain ? input : lowered;
  const auto times = plain ? time_actions(ready) : time_events(ready, ready.communication);
  if (!times) return Failure(times.error());
  if (input.schedule.flushes) return iteration_end(ready, *times).iteration;
  return steady_microbatch(ready, *times) * static_cast<double>(input.schedule.microbatches);
}

}  // namespace headrace
