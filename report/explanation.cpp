#include "report/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include <fmt/core.h>

#include "core/text.h"
#include "report/critical_chain.h"

namespace headrace {
namespace {

/// Time between two neighbours of a chain, by what it was spent on.
struct Gap {
  Seconds launch{0};   ///< Same device, nothing to wait for.
  Seconds message{0};  ///< A message was on its way.
  Seconds waiting{0};  ///< Something else than the chain's neighbour was late.

  Gap& operator+=(const Gap& other) {
    launch += other.launch;
    message += other.message;
    waiting += other.waiting;
    return *this;
  }
};

/// A chain's compute time per stage, its gaps, and what surrounds it.
struct ChainTime {
  std::map<int, Seconds> compute;
  std::map<int, int> actions;
  Gap gaps;
  Seconds before{0};  ///< From the timeline's first start to the chain's.
  Seconds after{0};   ///< From the chain's end to the timeline's.
};

Seconds end_of(const Timeline& timeline, std::optional<std::size_t> event, Seconds otherwise) {
  return event ? timeline.events[*event].end : otherwise;
}

Gap gap_between(const Timeline& timeline, const EventIndex& index, std::size_t from,
                std::size_t to) {
  const TimelineEvent& before = timeline.events[from];
  const TimelineEvent& after = timeline.events[to];
  const Seconds gap = after.start - before.end;
  const bool same_device = before.device == after.device;
  // The chain's neighbour is one of two things `to` waits for; this is when the other one ended.
  const Seconds other = end_of(
      timeline, same_device ? index.message_source(to) : index.before_on_device(to), before.end);
  const Seconds none{0};
  const Seconds waiting = std::clamp(other - before.end, none, std::max(gap, none));
  const Seconds rest = gap - waiting;
  if (!same_device || (waiting > none && index.message_source(to))) {
    return {.message = rest, .waiting = waiting};
  }
  return {.launch = rest, .waiting = waiting};
}

ChainTime time_of(const Timeline& timeline, const EventIndex& index,
                  const std::vector<std::size_t>& chain) {
  ChainTime time;
  Seconds first = timeline.events[chain.front()].start;
  Seconds last = timeline.events[chain.back()].end;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    const TimelineEvent& event = timeline.events[chain[k]];
    time.compute[number_of(event.action.stage)] += event.end - event.start;
    ++time.actions[number_of(event.action.stage)];
    if (k > 0) time.gaps += gap_between(timeline, index, chain[k - 1], chain[k]);
  }
  for (const TimelineEvent& event : timeline.events) {
    if (!is_compute(event.action.kind)) continue;
    first = std::min(first, event.start);
    last = std::max(last, event.end);
  }
  time.before = timeline.events[chain.front()].start - first;
  time.after = last - timeline.events[chain.back()].end;
  return time;
}

Result<std::vector<std::size_t>> same_chain(const Timeline& predicted,
                                            const std::vector<std::size_t>& chain,
                                            const EventIndex& measured) {
  std::vector<std::size_t> same;
  for (const std::size_t event : chain) {
    const Action& action = predicted.events[event].action;
    const auto found = measured.find(action);
    if (!found) {
      return Failure({.code = ErrorCode::kBadInput,
                      .what = fmt::format("{} was predicted and not measured", to_string(action)),
                      .where = "measured timeline",
                      .fix = "compare a run with the prediction of the same schedule"});
    }
    same.push_back(*found);
  }
  return same;
}

}  // namespace

Result<std::vector<DifferencePart>> difference_parts(const DifferenceInput& input) {
  const std::vector<std::size_t> chain = critical_chain(input.predicted);
  if (chain.empty()) return std::vector<DifferencePart>{};
  const EventIndex predicted_index(input.predicted);
  const EventIndex measured_index(input.measured);
  const auto same = same_chain(input.predicted, chain, measured_index);
  if (!same) return Failure(same.error());

  const ChainTime predicted = time_of(input.predicted, predicted_index, chain);
  const ChainTime measured = time_of(input.measured, measured_index, *same);
  std::vector<DifferencePart> parts;
  for (const auto& [stage, time] : measured.compute) {
    const Seconds difference = time - predicted.compute.at(stage);
    parts.push_back(
        {fmt::format("stage {} computes {} than predicted ({} actions in a row)", stage,
                     difference > Seconds{0} ? "slower" : "faster", measured.actions.at(stage)),
         difference});
  }
  parts.push_back({"messages between stages", measured.gaps.message - predicted.gaps.message});
  parts.push_back(
      {"waiting for other actions than predicted", measured.gaps.waiting - predicted.gaps.waiting});
  parts.push_back(
      {"gaps between the actions of one device", measured.gaps.launch - predicted.gaps.launch});
  parts.push_back({"the first action starts late", measured.before - predicted.before});
  parts.push_back(
      {"other actions end after the predicted last one", measured.after - predicted.after});
  const Seconds measured_tail = input.measured_iteration - makespan_of(input.measured);
  const Seconds predicted_tail = input.predicted_iteration - makespan_of(input.predicted);
  parts.push_back(
      {"gradient reduction and optimizer after the last action", measured_tail - predicted_tail});
  std::ranges::stable_sort(parts, std::ranges::greater{},
                           [](const DifferencePart& part) { return std::abs(part.time.value()); });
  return parts;
}

std::vector<std::string> explanation_of(const std::vector<DifferencePart>& parts,
                                        const DifferenceInput& input, double noise_floor) {
  constexpr double kWorthSaying = 1e-3;
  std::vector<std::string> lines;
  for (const DifferencePart& part : parts) {
    if (std::abs(part.time.value()) < kWorthSaying * input.measured_iteration.value()) continue;
    lines.push_back(fmt::format("{:+.3f} ms  {}", part.time.value() * 1e3, part.reason));
  }
  const Seconds difference = input.measured_iteration - input.predicted_iteration;
  const double size = std::abs(ratio(difference, input.measured_iteration));
  if (size <= noise_floor) {
    lines.push_back(fmt::format("the whole difference of {:+.3f} ms is within the noise floor",
                                difference.value() * 1e3));
  }
  return lines;
}

}  // namespace headrace
