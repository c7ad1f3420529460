#include "planner/chain_problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <fmt/core.h>

#include "planner/memory.h"

namespace headrace {
namespace {

constexpr double kMostSum = 4e18;  // Below 2^62: sums and their doubles fit in 64 bits.
constexpr double kNanosecondsPerSecond = 1e9;

double nanoseconds(const Layer& layer, Passes passes) {
  const Seconds backward = passes == Passes::kForwardOnly ? Seconds{0} : layer.backward.mean;
  return (layer.forward.mean + backward).value() * kNanosecondsPerSecond;
}

Bytes state_of(const Layer& layer) {
  return layer.parameters + layer.gradients + layer.optimizer;
}

Bytes state_of(const MemoryItems& items) {
  return items.parameters + items.gradients + items.optimizer;
}

/// Adds up in floating point before anything is added in whole numbers.
Result<void> check_sums(const Profile& profile, const PlanRequest& request, double slowest) {
  double time = 0;
  double bytes = 0;
  const double in_flight =
      request.in_flight.empty() ? 1 : *std::ranges::max_element(request.in_flight);
  for (const Layer& layer : profile.graph.layers()) {
    time += nanoseconds(layer, request.passes) / slowest + 1;
    for (const Bytes part : {layer.parameters, layer.gradients, layer.optimizer, layer.workspace}) {
      bytes += static_cast<double>(part.value());
    }
    bytes += static_cast<double>(layer.saved_activation.value()) * in_flight;
    bytes += static_cast<double>(layer.output.value()) * (request.stages + 2);
  }
  for (const LayerEdge& edge : profile.graph.edges()) {
    bytes += static_cast<double>(edge.bytes.value()) * (request.stages + 2);
  }
  if (time < kMostSum && bytes < kMostSum) return {};
  return Failure({.code = ErrorCode::kBadInput,
                  .what = fmt::format("the layers add up to {:.3g} s and {:.3g} bytes in flight; "
                                      "at most 4e9 s and 4e18 bytes can be planned",
                                      time / kNanosecondsPerSecond, bytes),
                  .where = "profile: /layers",
                  .fix = "check the units of the profile: seconds and bytes"});
}

std::vector<ChainTie> ties_of(const ModelGraph& graph) {
  std::vector<ChainTie> ties;
  std::map<std::string, int> latest;  // Position of the last member of each group so far.
  const auto order = graph.chain_order();
  for (int position = 0; position < static_cast<int>(order.size()); ++position) {
    const Layer& layer = graph.layer(order[static_cast<std::size_t>(position)]);
    if (layer.tie_group.empty()) continue;
    if (const auto found = latest.find(layer.tie_group); found != latest.end()) {
      const Layer& before = graph.layer(order[static_cast<std::size_t>(found->second)]);
      ties.push_back({.first = found->second,
                      .second = position,
                      .state = state_of(shared_state(before, layer)).value()});
    }
    latest[layer.tie_group] = position;
  }
  return ties;
}

}  // namespace

Result<ChainProblem> chain_problem(const Profile& profile, const Cluster& cluster,
                                   const PlanRequest& request) {
  ChainProblem problem;
  double slowest = 1;
  for (int s = 0; s < request.stages; ++s) {
    const Device& device = cluster.devices[device_of(request, s)];
    ChainStage stage{.speed = device.speed,
                     .in_flight = request.in_flight[static_cast<std::size_t>(s)]};
    if (device.memory && !is_placed(request)) {
      stage.capacity =
          (*device.memory - memory_margin(*device.memory, request.memory_margin)).value();
    }
    slowest = std::min(slowest, device.speed);
    problem.stages.push_back(stage);
  }
  if (auto ok = check_sums(profile, request, slowest); !ok) return Failure(ok.error());
  for (const LayerId id : profile.graph.chain_order()) {
    const Layer& layer = profile.graph.layer(id);
    problem.layers.push_back({.time = std::llround(nanoseconds(layer, request.passes)),
                              .state = state_of(layer).value(),
                              .activation = layer.saved_activation.value(),
                              .workspace = layer.workspace.value()});
  }
  for (const Bytes border : profile.graph.border_bytes()) {
    problem.border_bytes.push_back(border.value());
  }
  problem.ties = ties_of(profile.graph);
  return problem;
}

}  // namespace headrace
