#include "planner/explanation.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "core/text.h"
#include "planner/memory.h"

namespace headrace {
namespace {

constexpr double kSame = 1e-9;  // Relative: shown times have three digits.

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

std::vector<int> layer_counts(const Borders& borders) {
  std::vector<int> counts;
  for (std::size_t s = 0; s + 1 < borders.size(); ++s) {
    counts.push_back(borders[s + 1] - borders[s]);
  }
  return counts;
}

Seconds work_of(const Plan& plan, const PlanStage& stage) {
  // A forward-only plan's bottleneck is its slowest forward; it has no backward to add.
  const Seconds whole = stage.forward.mean + stage.backward.mean;
  return whole > plan.bottleneck ? stage.forward.mean : whole;
}

std::string layers_text(const PlanStage& stage) {
  if (stage.layers.size() == 1) return fmt::format("'{}'", stage.layers.front());
  return fmt::format("'{}' to '{}'", stage.layers.front(), stage.layers.back());
}

/// The same for devices with several stages.
std::string busiest_device_note(const Plan& plan) {
  std::map<std::string, Seconds> busy;
  for (const PlanStage& stage : plan.stages) {
    busy[stage.devices.front()] += stage.forward.mean + stage.backward.mean;
  }
  const auto busiest =
      std::ranges::max_element(busy, {}, [](const auto& entry) { return entry.second; });
  std::string stages;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].devices.front() != busiest->first) continue;
    stages +=
        fmt::format("{}stage {} ({})", stages.empty() ? "" : ", ", s, layers_text(plan.stages[s]));
  }
  return fmt::format("device '{}' is the bottleneck with {} per micro-batch: {}", busiest->first,
                     to_text(plan.bottleneck), stages);
}

std::string bottleneck_note(const Plan& plan, const SearchFacts& facts) {
  if (plan.parallel.virtual_stages > 1) return busiest_device_note(plan);
  std::size_t slowest = 0;
  for (std::size_t s = 1; s < plan.stages.size(); ++s) {
    if (work_of(plan, plan.stages[s]) > work_of(plan, plan.stages[slowest])) slowest = s;
  }
  const PlanStage& stage = plan.stages[slowest];
  std::string note = fmt::format("stage {} is the bottleneck with {} per micro-batch: ", slowest,
                                 to_text(plan.bottleneck));
  if (stage.layers.size() == 1) {
    return note +
           fmt::format("it is the single layer {}, which cannot be divided", layers_text(stage));
  }
  note += fmt::format("layers {}", layers_text(stage));
  if (plan.bottleneck.value() <= facts.least_bottleneck.value() * (1 + kSame)) {
    return note + "; no cut that fits has a faster slowest stage";
  }
  return note + fmt::format("; a cut with {} exists, but its iteration takes longer",
                            to_text(facts.least_bottleneck));
}

/// Names the layer that makes equal counts a bad split, where one takes 1.5 times the median and
/// half of a stage's even share.
std::optional<std::string> heaviest_layer_note(const Plan& plan, const Profile& profile) {
  const auto work = [](const Layer& layer) { return layer.forward.mean + layer.backward.mean; };
  std::vector<Seconds> times;
  Seconds total{0};
  const Layer* heaviest = nullptr;
  for (const Layer& layer : profile.graph.layers()) {
    times.push_back(work(layer));
    total += work(layer);
    if (heaviest == nullptr || work(layer) > work(*heaviest)) heaviest = &layer;
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  const Seconds median = *middle;
  constexpr double kHeavy = 1.5;
  const Seconds half_share = total / (2.0 * static_cast<double>(plan.stages.size()));
  if (work(*heaviest) <= std::max(kHeavy * median, half_share)) return std::nullopt;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& layers = plan.stages[s].layers;
    if (std::ranges::find(layers, heaviest->id) == layers.end()) continue;
    return fmt::format(
        "'{}' is the heaviest layer ({}; the median layer takes {}): stage {} holds "
        "{}",
        heaviest->id, to_text(work(*heaviest)), to_text(median), s,
        layers.size() == 1 ? std::string("it alone")
                           : fmt::format("it and only {} more", layers.size() - 1));
  }
  return std::nullopt;
}

std::string bound_note(const Plan& plan, const SearchFacts& facts) {
  const bool shared = plan.parallel.virtual_stages > 1;
  const std::string_view what = plan.objective != "bottleneck" ? "simulated iteration"
                                : shared                       ? "busiest device"
                                                               : "slowest stage";
  const std::string value = to_text(facts.objective);
  if (facts.given) {
    return fmt::format("no cut can have a faster {} than {}; the given split takes {} ({} longer)",
                       what, to_text(plan.bound), value, percent_text(plan.gap));
  }
  if (plan.exact && plan.objective == "bottleneck") {
    return fmt::format(
        "no cut has a faster {} than {}: the search is exact; an even share or the "
        "heaviest layer takes {}",
        what, value, to_text(plan.bound));
  }
  if (plan.exact) {
    return fmt::format(
        "no cut has a faster {} than {}: all others were simulated or have a bound at least as "
        "long (plans simulated: {})",
        what, value, facts.scored);
  }
  return fmt::format(
      "no cut can have a faster {} than {}; this plan takes {} ({} longer) and is the "
      "best of {} simulated ones",
      what, to_text(plan.bound), value, percent_text(plan.gap), facts.scored);
}

std::string baseline_note(const Plan& plan, const Baseline& baseline, const SearchFacts& facts) {
  const std::string split = fmt::format("the {} split ({} layers)", baseline.name,
                                        fmt::join(baseline.layers_per_stage, ", "));
  const bool by_time = plan.objective == "iteration-time" && baseline.iteration.has_value();
  if (!by_time && baseline.iteration == std::nullopt && !baseline.note.empty()) {
    return fmt::format("{} does not fit: {}", split, baseline.note);
  }
  const Seconds theirs = by_time ? *baseline.iteration : baseline.bottleneck;
  const Seconds ours = by_time ? facts.objective : plan.bottleneck;
  const bool same_bottleneck =
      plan.parallel.virtual_stages == 1 &&
      baseline.bottleneck.value() <= facts.least_bottleneck.value() * (1 + kSame);
  std::string note;
  if (theirs.value() > ours.value() * (1 + kSame)) {
    note = fmt::format("{} takes {} {}; this plan takes {} less ({})", split, to_text(theirs),
                       by_time ? "an iteration" : "on its slowest stage",
                       percent_text(1 - ratio(ours, theirs)), to_text(ours));
  } else if (theirs.value() < ours.value() * (1 - kSame)) {
    note = fmt::format("{} takes {} {}, {} less than this plan", split, to_text(theirs),
                       by_time ? "an iteration" : "on its slowest stage",
                       percent_text(1 - ratio(theirs, ours)));
  } else {
    note = fmt::format("{} is as fast as this plan", split);
  }
  if (same_bottleneck) note += "; it is already optimal for the bottleneck";
  return note;
}

std::optional<std::string> memory_note(const Plan& plan) {
  std::optional<std::size_t> fullest;
  const auto fill = [&plan](std::size_t s) {
    return ratio(plan.stages[s].memory.total(), std::max(*plan.stages[s].capacity, Bytes{1}));
  };
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (!plan.stages[s].capacity) continue;
    if (!fullest || fill(s) > fill(*fullest)) fullest = s;
  }
  if (!fullest) return std::nullopt;
  const PlanStage& stage = plan.stages[*fullest];
  return fmt::format("stage {} fills its device most: {} of {}", *fullest,
                     to_text(stage.memory.total()), to_text(*stage.capacity));
}

}  // namespace

Result<std::vector<Baseline>> baselines_of(const std::vector<DefaultSplit>& splits,
                                           const PlanBuilder& builder, ScoreBook& scores) {
  std::vector<Baseline> baselines;
  for (const DefaultSplit& split : splits) {
    const Plan plan = builder.plan_of(split.borders);
    Baseline baseline{.name = split.name,
                      .bottleneck = plan.bottleneck,
                      .layers_per_stage = layer_counts(split.borders)};
    if (const auto overfull = builder.overfull_stage(plan)) {
      baseline.note =
          fmt::format("{} {} needs {} of {}",
                      plan.parallel.virtual_stages > 1 ? "the device of stage" : "stage", *overfull,
                      to_text(builder.device_memory(plan, at(*overfull))),
                      to_text(*builder.device_capacity(at(*overfull))));
    } else if (scores.can_score()) {
      const auto entry = scores.score(plan);
      if (!entry) return Failure(entry.error());
      baseline.iteration = entry->iteration;
    }
    baselines.push_back(std::move(baseline));
  }
  return baselines;
}

Result<std::vector<Boundary>> boundaries_of(const Borders& borders, Seconds iteration,
                                            const PlanBuilder& builder, ScoreBook& scores) {
  const Plan plan = builder.plan_of(borders);
  std::vector<Boundary> boundaries;
  for (std::size_t s = 0; s + 1 < plan.stages.size(); ++s) {
    Boundary boundary{.stage = static_cast<int>(s),
                      .after_layer = plan.stages[s].layers.back(),
                      .bytes = plan.stages[s].output};
    for (const int step : {-1, 1}) {
      Borders moved = borders;
      moved[s + 1] += step;
      if (!scores.can_score() || moved[s + 1] == moved[s] || moved[s + 1] == moved[s + 2]) continue;
      const Plan other = builder.plan_of(moved);
      if (builder.overfull_stage(other)) continue;
      const auto entry = scores.score(other);
      if (!entry) return Failure(entry.error());
      (step < 0 ? boundary.one_layer_earlier : boundary.one_layer_later) =
          entry->iteration - iteration;
    }
    boundaries.push_back(std::move(boundary));
  }
  return boundaries;
}

std::vector<std::string> notes_of(const Plan& plan, const Profile& profile, const Borders& borders,
                                  const SearchFacts& facts) {
  std::vector<std::string> notes{bottleneck_note(plan, facts)};
  if (const auto note = heaviest_layer_note(plan, profile)) notes.push_back(*note);
  notes.push_back(bound_note(plan, facts));
  for (const Baseline& baseline : plan.baselines) {
    notes.push_back(baseline_note(plan, baseline, facts));
  }
  if (const auto note = memory_note(plan)) notes.push_back(*note);
  for (const SplitTie& tie : split_ties(profile.graph, borders)) {
    notes.push_back(
        fmt::format("'{}' on stage {} and '{}' on stage {} are tied: both keep a copy, and {} "
                    "bytes of gradient "
                    "are all-reduced once per step",
                    tie.first_layer, tie.first_stage, tie.second_layer, tie.second_stage,
                    tie.gradient.value()));
  }
  const std::size_t devices = plan.inputs.cluster.devices.size();
  const auto used = static_cast<std::size_t>(plan.parallel.pipeline);
  if (devices > used) {
    notes.push_back(fmt::format("{} of {} devices are not used", devices - used, devices));
  }
  return notes;
}

}  // namespace headrace
