#include "simulator/what_if.h"

#include <algorithm>
#include <array>
#include <optional>

#include "simulator/engine.h"
#include "simulator/parallel.h"

namespace headrace {
namespace {

void count_messages(const SimulationInput& input, WhatIfResult& result) {
  const Schedule& schedule = input.schedule;
  const int ways = trains(schedule) ? 2 : 1;
  for (int s = 0; s + 1 < schedule.stages; ++s) {
    const auto stage = static_cast<std::size_t>(s);
    if (is_last_stage(schedule, s) ||
        schedule.device_of_stage[stage] == schedule.device_of_stage[stage + 1]) {
      continue;
    }
    const MicrobatchRange range = microbatches_of(schedule, s);
    const std::int64_t count = static_cast<std::int64_t>(ways) * (range.end - range.first);
    result.messages += count;
    result.traffic += input.stages[stage].output * count;
  }
}

void fill_rates(const SimulationInput& input, WhatIfResult& result) {
  if (result.iteration <= Seconds{0}) return;
  const int microbatches = input.schedule.microbatches / input.schedule.pieces;
  result.microbatches_per_s = microbatches / result.iteration.value();
  if (input.global_batch) result.samples_per_s = *input.global_batch / result.iteration.value();
}

void note_peak(const SimulationInput& input, std::size_t device, Bytes peak, double activations,
               WhatIfResult& result) {
  result.peak_memory = std::max(result.peak_memory, peak);
  result.peak_activations = std::max(result.peak_activations, activations);
  if (input.capacity.empty() || !input.capacity[device]) return;
  if (peak <= *input.capacity[device]) return;
  result.missing = std::max(result.missing.value_or(Bytes{0}), peak - *input.capacity[device]);
}

Result<WhatIfResult> evaluate_whole(const SimulationInput& input) {
  const auto outcome = simulate(input);
  if (!outcome) return Failure(outcome.error());
  WhatIfResult result{.iteration = outcome->report.iteration,
                      .bubble_ratio = outcome->report.bubble_ratio};
  for (std::size_t d = 0; d < outcome->report.per_device.size(); ++d) {
    const DeviceReport& device = outcome->report.per_device[d];
    note_peak(input, d, device.peak_memory, device.peak_activations, result);
  }
  return result;
}

/// Activations in the order of the rows; busy times as sums.
Result<WhatIfResult> evaluate_fast(const SimulationInput& input) {
  if (auto ok = validate(input.schedule); !ok) return Failure(ok.error());
  const auto iteration = simulated_iteration(input);
  if (!iteration) return Failure(iteration.error());
  const auto makespan = time_makespan(input);
  if (!makespan) return Failure(makespan.error());
  WhatIfResult result{.iteration = *iteration};
  std::vector<Bytes> fixed(input.schedule.rows.size());
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    fixed[index_of(input.schedule.device_of_stage[s])] += input.stages[s].fixed.total();
  }
  double bubbles = 0;
  for (std::size_t d = 0; d < input.schedule.rows.size(); ++d) {
    Seconds busy{0};
    Bytes held{0};
    Bytes peak{0};
    double units = 0;
    double peak_units = 0;
    for (const Action& action : input.schedule.rows[d]) {
      const StageCost& cost = input.stages[index_of(action.stage)];
      if (is_compute(action.kind)) busy += action_duration(input, action);
      if (action.kind == ActionKind::kForward) {
        held += cost.saved_activation;
        units += cost.activation;
      } else if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad) {
        held -= cost.saved_activation;
        units -= cost.activation;
      }
      peak = std::max(peak, held);
      peak_units = std::max(peak_units, units);
    }
    if (*makespan > Seconds{0}) bubbles += 1 - ratio(busy, *makespan);
    note_peak(input, d, fixed[d] + peak, peak_units, result);
  }
  result.bubble_ratio = bubbles / static_cast<double>(input.schedule.rows.size());
  return result;
}

bool has_plain_messages(const CommunicationModel& model) {
  return model.semantics == CommunicationSemantics::kAsync &&
         model.streams == CommunicationStreams::kUnlimited && model.resources.empty() &&
         model.compute_slowdown == 1;
}

Result<WhatIfResult> evaluate_one(const SimulationInput& input, const WhatIfOptions& options) {
  const bool fast =
      !options.detailed && has_plain_messages(input.communication) && !input.overlap_share;
  auto result = fast ? evaluate_fast(input) : evaluate_whole(input);
  if (!result) return result;
  count_messages(input, *result);
  fill_rates(input, *result);
  return result;
}

/// What is compared on the front; bytes where they are known.
std::array<double, 3> goals_of(const WhatIfResult& result, bool bytes) {
  return {time_per_unit(result).value(),
          bytes ? static_cast<double>(result.peak_memory.value()) : result.peak_activations,
          bytes && result.traffic > Bytes{0} ? static_cast<double>(result.traffic.value())
                                             : static_cast<double>(result.messages)};
}

bool dominates(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better |= a[i] < b[i];
  }
  return better;
}

}  // namespace

Seconds time_per_unit(const WhatIfResult& result) {
  const double rate = result.samples_per_s.value_or(result.microbatches_per_s);
  return rate > 0 ? Seconds(1 / rate) : result.iteration;
}

std::vector<Result<WhatIfResult>> evaluate(std::span<const SimulationInput> inputs,
                                           const WhatIfOptions& options) {
  std::vector<Result<WhatIfResult>> results(inputs.size());
  for_each_in_parallel(inputs.size(), options.threads,
                       [&](std::size_t i) { results[i] = evaluate_one(inputs[i], options); });
  return results;
}

void rank(std::vector<WhatIfRow>& rows) {
  const bool has_base = !rows.empty() && rows.front().result;
  const Seconds base = has_base ? time_per_unit(*rows.front().result) : Seconds{0};
  const bool bytes = std::ranges::any_of(
      rows, [](const WhatIfRow& row) { return row.result && row.result->peak_memory > Bytes{0}; });
  for (WhatIfRow& row : rows) {
    if (!row.result) continue;
    if (base > Seconds{0}) row.result->change = ratio(time_per_unit(*row.result), base) - 1;
    if (row.result->missing) continue;
    const auto mine = goals_of(*row.result, bytes);
    row.result->pareto = std::ranges::none_of(rows, [&](const WhatIfRow& other) {
      return other.result && !other.result->missing &&
             dominates(goals_of(*other.result, bytes), mine);
    });
  }
}

}  // namespace headrace
