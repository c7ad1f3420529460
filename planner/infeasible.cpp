#include "planner/infeasible.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "core/text.h"
#include "planner/chain_costs.h"
#include "planner/chain_partition.h"
#include "planner/memory.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

std::string exactly(Bytes size) {
  return size.value() < 1024 ? to_text(size)
                             : fmt::format("{} ({} bytes)", to_text(size), size.value());
}

/// Recomputing everything keeps at best nothing, micro-batches can shrink towards nothing.
bool fits_without_activations(ChainProblem problem) {
  for (ChainLayer& layer : problem.layers) layer.activation = 0;
  std::ranges::fill(problem.border_bytes, 0);
  return smallest_shortfall(problem).bytes <= 0;
}

/// A stage of one layer is the least that more stages can ask of a device.
bool every_layer_fits_alone(const ChainProblem& problem) {
  const ChainCosts costs(problem);
  const auto roomiest = std::ranges::max_element(problem.stages, {}, [](const ChainStage& stage) {
    return stage.capacity.value_or(std::numeric_limits<std::int64_t>::max());
  });
  if (!roomiest->capacity) return true;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const ChainLayer& layer = problem.layers[i];
    if (layer.state + layer.activation + layer.workspace > *roomiest->capacity) return false;
  }
  return true;
}

std::string ways_out(const ChainProblem& problem, Bytes missing) {
  std::string ways;
  if (fits_without_activations(problem)) {
    ways = "recompute activations, use a smaller micro-batch, ";
  }
  const bool can_split = problem.layers.size() > problem.stages.size();
  if (can_split && every_layer_fits_alone(problem)) ways += "use more stages, ";
  return fmt::format("{}{}devices with {} more memory", ways, ways.empty() ? "use " : "or ",
                     exactly(missing));
}

}  // namespace

Error fewer_layers_than_stages(int layers, int stages) {
  return {.code = ErrorCode::kInfeasible,
          .what = fmt::format("{} stages but only {} layers", stages, layers),
          .where = "--stages",
          .fix = fmt::format("use --stages {} or fewer, or profile at a finer grain", layers),
          .why = "every stage needs at least one layer"};
}

Error fewer_devices_than_stages(int devices, int stages) {
  return {
      .code = ErrorCode::kInfeasible,
      .what = fmt::format("{} stages need {} devices, the cluster has {}", stages, stages, devices),
      .where = "--stages",
      .fix = fmt::format("use --stages {} or fewer, or add devices", devices),
      .why = "every stage runs on a device of its own"};
}

Error does_not_fit(const ChainProblem& problem, const Profile& profile,
                   const PlanRequest& request) {
  const ChainShortfall shortfall = smallest_shortfall(problem);
  const int stage = shortfall.stage;
  const StageExtent extent{.first = shortfall.borders[at(stage)],
                           .last = shortfall.borders[at(stage) + 1],
                           .in_flight = request.in_flight[at(stage)]};
  const auto border_bytes = profile.graph.border_bytes();
  const MemoryItems items = stage_memory(profile.graph, border_bytes, extent);
  const auto order = profile.graph.chain_order();
  const Bytes missing(shortfall.bytes);
  return {
      .code = ErrorCode::kInfeasible,
      .what = fmt::format("no cut of {} layers into {} stages fits in memory: short by {} on stage "
                          "{} at best",
                          problem.layers.size(), request.stages, exactly(missing), stage),
      .where = fmt::format("cluster: /devices/{}/memory_bytes", stage),
      .fix = ways_out(problem, missing),
      .why = fmt::format(
          "stage {} then holds '{}' to '{}': state {} + {} micro-batches in flight {} + buffers {} "
          "+ workspace {} = {}, of {} free",
          stage, profile.graph.layer(order[at(extent.first)]).id,
          profile.graph.layer(order[at(extent.last - 1)]).id,
          to_text(items.parameters + items.gradients + items.optimizer), extent.in_flight,
          to_text(items.activations), to_text(items.communication), to_text(items.workspace),
          to_text(items.total()), to_text(Bytes(*problem.stages[at(stage)].capacity)))};
}

}  // namespace headrace
