#include "planner/planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "core/text.h"
#include "planner/chain_partition.h"
#include "planner/default_splits.h"
#include "planner/explanation.h"
#include "planner/given_split.h"
#include "planner/infeasible.h"
#include "planner/makespan_search.h"
#include "planner/placed_search.h"
#include "planner/plan_builder.h"

namespace headrace {
namespace {

constexpr std::string_view kBottleneck = "bottleneck";
constexpr std::array<std::string_view, 2> kObjectives = {"iteration-time", kBottleneck};
constexpr double kSameTime = 1e-12;  // Relative, as in the search.

Failure usage(std::string where, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

Result<void> check_numbers(const PlanRequest& request) {
  if (request.stages < 1) {
    return usage("--stages", fmt::format("{} stages", request.stages), "ask for at least 1");
  }
  if (request.microbatches < 1) {
    return usage("--micro-batches", fmt::format("{} micro-batches", request.microbatches),
                 "ask for at least 1");
  }
  if (!(request.memory_margin >= 0 && request.memory_margin < 1)) {
    return usage("memory margin", fmt::format("a margin of {}", request.memory_margin),
                 "give a fraction of at least 0 and below 1");
  }
  if (request.scored_plans < 1) {
    return usage("scored plans", fmt::format("{} plans may be scored", request.scored_plans),
                 "allow at least 1");
  }
  const auto in_flight = static_cast<int>(request.in_flight.size());
  if (in_flight != request.stages ||
      std::ranges::any_of(request.in_flight, [](int held) { return held < 0; })) {
    return usage("in-flight counts",
                 fmt::format("{} counts of micro-batches in flight for {} stages", in_flight,
                             request.stages),
                 "give one count of at least 0 for every stage, as the schedule says");
  }
  return {};
}

/// Makes sure that a placement can be followed blindly.
Result<void> check_placement(const PlanRequest& request, std::size_t devices) {
  if (!is_placed(request)) return {};
  const bool known = std::ranges::all_of(request.device_of_stage, [&](DeviceId device) {
    return index_of(device) < devices && index_of(device) < request.held_together.size();
  });
  if (known && request.device_of_stage.size() == static_cast<std::size_t>(request.stages)) {
    return {};
  }
  return usage("--virtual", "the schedule's devices are not those of the cluster",
               "give as many devices as the schedule has rows");
}

Result<void> check(const Profile& profile, const Cluster& cluster, const PlanRequest& request) {
  if (auto ok = check_numbers(request); !ok) return ok;
  if (std::ranges::find(kObjectives, request.objective) == kObjectives.end()) {
    return usage("--objective",
                 fmt::format("unknown objective '{}'{}", request.objective,
                             did_you_mean(request.objective, kObjectives)),
                 "use iteration-time or bottleneck");
  }
  if (auto ok = validate(cluster); !ok) return ok;
  const auto layers = static_cast<int>(profile.graph.layers().size());
  if (layers < request.stages) return Failure(fewer_layers_than_stages(layers, request.stages));
  const auto devices = static_cast<int>(cluster.devices.size());
  if (!is_placed(request) && devices < request.stages) {
    return Failure(fewer_devices_than_stages(devices, request.stages));
  }
  return check_placement(request, cluster.devices.size());
}

/// I and W together may take less than the whole backward; a bound must hold for both.
Seconds least_backward(const Layer& layer, Passes passes) {
  if (passes == Passes::kForwardOnly) return Seconds{0};
  const bool split = passes == Passes::kSplitBackward && layer.input_grad && layer.weight_grad;
  if (!split) return layer.backward.mean;
  return std::min(layer.backward.mean, layer.input_grad->mean + layer.weight_grad->mean);
}

MakespanProblem makespan_problem(const Profile& profile, const Cluster& cluster,
                                 const PlanRequest& request, const ChainProblem& chain) {
  MakespanProblem problem{
      .chain = chain, .microbatches = request.microbatches, .passes = request.passes};
  for (const LayerId id : profile.graph.chain_order()) {
    const Layer& layer = profile.graph.layer(id);
    problem.forward.push_back(layer.forward.mean);
    problem.backward.push_back(least_backward(layer, request.passes));
  }
  for (int s = 0; s + 1 < request.stages; ++s) {
    const DeviceId from{static_cast<int>(device_of(request, s))};
    const DeviceId to{static_cast<int>(device_of(request, s + 1))};
    problem.links.push_back(cluster.link_between(from, to));
  }
  return problem;
}

/// What was found, before it is explained.
struct Choice {
  Borders borders;
  Seconds objective{0};
  Seconds bound{0};
  bool exact = false;
  int scored = 0;
  bool given = false;  ///< By the caller, not found.
};

Result<Choice> choose_by_time(const MakespanProblem& problem, const std::vector<Borders>& starts,
                              const PlanBuilder& builder, ScoreBook& scores, int most_scored) {
  const auto found =
      fastest_cut(problem, starts, most_scored, [&](const Borders& borders) -> Result<CutScore> {
        const auto entry = scores.score(builder.plan_of(borders));
        if (!entry) return Failure(entry.error());
        return CutScore{.iteration = entry->iteration, .fresh = entry->fresh};
      });
  if (!found) return Failure(found.error());
  return Choice{.borders = found->borders,
                .objective = found->iteration,
                .bound = found->bound,
                .exact = found->exact,
                .scored = found->scored};
}

Choice choose_by_bottleneck(const ChainPartition& partition, const MakespanProblem& problem,
                            const PlanBuilder& builder) {
  MakespanProblem once = problem;
  once.microbatches = 1;
  const Seconds bottleneck = builder.plan_of(partition.borders).bottleneck;
  return {.borders = partition.borders,
          .objective = bottleneck,
          .bound = std::min(bottleneck, CutBound(once).of_any()),
          .exact = true};
}

/// The caller's cut, judged like any other. `balanced` has the smallest bottleneck.
Result<Choice> choose_given(const PlanRequest& request, const Choice& balanced,
                            const MakespanProblem& problem, const PlanBuilder& builder,
                            ScoreBook& scores) {
  const auto layers = static_cast<int>(problem.forward.size());
  auto borders = borders_of_counts(request.layers_per_stage, request.stages, layers);
  if (!borders) return Failure(borders.error());
  const Plan plan = builder.plan_of(*borders);
  if (auto fits = check_given_fits(plan, builder); !fits) return Failure(fits.error());
  Choice choice{.borders = *std::move(borders),
                .objective = plan.bottleneck,
                .bound = balanced.objective,
                .given = true};
  if (plan.objective != kBottleneck) {
    const auto entry = scores.score(plan);
    if (!entry) return Failure(entry.error());
    choice.objective = entry->iteration;
    choice.bound = std::min(entry->iteration, CutBound(problem).of_any() + problem.optimizer);
  }
  return choice;
}

Bytes bytes_of(const Plan& plan) {
  Bytes bytes{0};
  for (const PlanStage& stage : plan.stages) bytes += stage.output;
  return bytes;
}

Bytes fullest_device(const Plan& plan, const PlanBuilder& builder) {
  Bytes most{0};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    most = std::max(most, builder.device_memory(plan, s));
  }
  return most;
}

/// A change that gains nothing is none: the first default split that is as good, sends no more and
/// needs no more memory on its fullest device takes the place of the choice.
Result<void> prefer_default(Choice& choice, const std::vector<DefaultSplit>& splits,
                            const PlanBuilder& builder, ScoreBook& scores) {
  const Plan chosen = builder.plan_of(choice.borders);
  for (const DefaultSplit& split : splits) {
    const Plan plan = builder.plan_of(split.borders);
    if (builder.overfull_stage(plan) || bytes_of(plan) > bytes_of(chosen) ||
        fullest_device(plan, builder) > fullest_device(chosen, builder)) {
      continue;
    }
    Seconds objective = plan.bottleneck;
    if (plan.objective != kBottleneck) {
      const auto entry = scores.score(plan);
      if (!entry) return Failure(entry.error());
      objective = entry->iteration;
    }
    if (objective.value() > choice.objective.value() * (1 + kSameTime)) continue;
    choice.borders = split.borders;
    choice.objective = objective;
    choice.bound = std::min(choice.bound, objective);
    return {};
  }
  return {};
}

/// Of devices with several stages.
Result<Choice> choose_placed(const PlacedTask& task, const std::vector<DefaultSplit>& splits,
                             const PlanBuilder& builder, ScoreBook& scores) {
  std::vector<Borders> starts;
  for (const DefaultSplit& split : splits) starts.push_back(split.borders);
  auto found = best_placed_cut(task, starts, builder, scores);
  if (!found) return Failure(found.error());
  Choice best{.borders = std::move(found->borders),
              .objective = found->objective,
              .bound = found->bound,
              .exact = found->exact,
              .scored = found->scored};
  if (task.request.layers_per_stage.empty()) {
    if (auto ok = prefer_default(best, splits, builder, scores); !ok) return Failure(ok.error());
    return best;
  }
  auto given = choose_given(task.request, best, task.problem, builder, scores);
  if (given) given->bound = std::min(given->objective, best.bound);
  return given;
}

/// Where the search by time begins: the fastest slowest stage, and every default split that fits.
std::vector<Borders> starts_of(const ChainPartition& partition,
                               const std::vector<DefaultSplit>& splits,
                               const PlanBuilder& builder) {
  std::vector<Borders> starts{partition.borders};
  for (const DefaultSplit& split : splits) {
    if (!builder.overfull_stage(builder.plan_of(split.borders))) {
      starts.push_back(split.borders);
    }
  }
  return starts;
}

/// The plan of a choice with its explanation.
Result<Plan> explained(const Choice& choice, const Profile& profile,
                       const std::vector<DefaultSplit>& splits, const PlanBuilder& builder,
                       ScoreBook& scores, Seconds least_bottleneck, bool brief) {
  Plan plan = builder.plan_of(choice.borders);
  plan.bound = choice.bound;
  plan.gap = choice.bound > Seconds{0} ? ratio(choice.objective, choice.bound) - 1 : 0;
  plan.exact = choice.exact;
  if (brief) return plan;
  auto baselines = baselines_of(splits, builder, scores);
  if (!baselines) return Failure(baselines.error());
  plan.baselines = std::move(*baselines);
  Seconds iteration{0};
  if (scores.can_score()) {
    const auto entry = scores.score(plan);
    if (!entry) return Failure(entry.error());
    iteration = entry->iteration;
  }
  auto boundaries = boundaries_of(choice.borders, iteration, builder, scores);
  if (!boundaries) return Failure(boundaries.error());
  plan.boundaries = std::move(*boundaries);
  plan.notes = notes_of(plan, profile, choice.borders,
                        {.least_bottleneck = least_bottleneck,
                         .objective = choice.objective,
                         .scored = choice.scored,
                         .given = choice.given});
  return plan;
}

}  // namespace

Result<Plan> make_plan(const Profile& profile, const Cluster& cluster, const PlanRequest& request,
                       const PlanScorer& scorer) {
  if (auto ok = check(profile, cluster, request); !ok) return Failure(ok.error());
  const bool by_time = request.objective != kBottleneck;
  HEADRACE_CHECK(!by_time || scorer, "planning for iteration time needs a scorer");
  const auto chain = chain_problem(profile, cluster, request);
  if (!chain) return Failure(chain.error());
  const PlanBuilder builder(profile, cluster, request);
  ScoreBook scores(scorer);
  MakespanProblem problem = makespan_problem(profile, cluster, request, *chain);
  problem.optimizer = builder.least_optimizer_step();
  const auto splits = default_splits(profile.graph, request.stages);
  if (is_placed(request)) {
    const auto choice = choose_placed({.cluster = cluster, .request = request, .problem = problem},
                                      splits, builder, scores);
    if (!choice) return Failure(choice.error());
    return explained(*choice, profile, splits, builder, scores, choice->bound, request.brief);
  }
  const auto partition = partition_chain(*chain);
  if (!partition) return Failure(does_not_fit(*chain, profile, request));

  Choice choice = choose_by_bottleneck(*partition, problem, builder);
  const Seconds least_bottleneck = choice.objective;
  if (!request.layers_per_stage.empty()) {
    auto given = choose_given(request, choice, problem, builder, scores);
    if (!given) return Failure(given.error());
    return explained(*given, profile, splits, builder, scores, least_bottleneck, request.brief);
  }
  if (by_time) {
    const auto starts = starts_of(*partition, splits, builder);
    auto found = choose_by_time(problem, starts, builder, scores, request.scored_plans);
    if (!found) return Failure(found.error());
    choice = std::move(*found);
  }
  if (auto ok = prefer_default(choice, splits, builder, scores); !ok) return Failure(ok.error());
  return explained(choice, profile, splits, builder, scores, least_bottleneck, request.brief);
}

}  // namespace headrace
