#include "planner/uniform_split.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "planner/default_splits.h"

namespace headrace {
namespace {

/// Equal middle stages between equal ends, as near to an even share as possible.
std::optional<std::vector<int>> first_and_last_split(int layers, int devices) {
  if (devices < 3) return std::nullopt;
  const int middle_stages = devices - 2;
  const int share = layers / devices;
  for (const int middle : {share + 1, share}) {
    const int ends = layers - middle * middle_stages;
    if (ends < 2 || ends % 2 != 0 || std::abs(ends / 2 - middle) > 1) continue;
    std::vector<int> counts(static_cast<std::size_t>(devices), middle);
    counts.front() = ends / 2;
    counts.back() = ends / 2;
    return counts;
  }
  return std::nullopt;
}

std::string advice(const UniformAlternatives& alternatives, int virtual_stages) {
  std::vector<std::string> ways;
  if (!alternatives.virtual_stages.empty()) {
    ways.push_back(fmt::format("{} virtual stages per device, which divide evenly",
                               fmt::join(alternatives.virtual_stages, " or ")));
  }
  if (alternatives.first_and_last) {
    ways.push_back(
        fmt::format("{} layers per stage", fmt::join(*alternatives.first_and_last, ", ")));
  } else if (!alternatives.layers_per_stage.empty()) {
    const int larger = alternatives.layers_per_stage.front();
    std::size_t count = 0;
    for (const int layers : alternatives.layers_per_stage) count += layers == larger ? 1 : 0;
    ways.push_back(fmt::format("{} stages of {} and {} of {} layers", count, larger,
                               alternatives.layers_per_stage.size() - count, larger - 1));
  }
  if (ways.empty()) return virtual_stages > 1 ? "use fewer virtual stages" : "use fewer devices";
  return fmt::format("use {}", fmt::join(ways, "; or "));
}

}  // namespace

UniformAlternatives uniform_alternatives(int layers, int devices, int virtual_stages) {
  UniformAlternatives alternatives;
  for (int count = 1; count <= layers / devices; ++count) {
    if (layers % (devices * count) == 0) alternatives.virtual_stages.push_back(count);
  }
  if (layers / devices >= virtual_stages) {
    alternatives.layers_per_stage = equal_counts(layers, devices * virtual_stages);
  }
  if (virtual_stages == 1) alternatives.first_and_last = first_and_last_split(layers, devices);
  return alternatives;
}

Result<int> uniform_split(int layers, int devices, int virtual_stages) {
  if (layers < 1 || devices < 1 || virtual_stages < 1) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} layers on {} devices with {} virtual stages each",
                                        layers, devices, virtual_stages),
                    .where = "uniform split",
                    .fix = "give counts of at least 1"});
  }
  const std::int64_t stages = std::int64_t{devices} * virtual_stages;
  if (layers % stages == 0) return static_cast<int>(layers / stages);
  const std::int64_t each = layers / stages;
  return Failure(
      {.code = ErrorCode::kInfeasible,
       .what = fmt::format("{} layers do not divide evenly over {} stages ({} devices x {} virtual "
                           "stages)",
                           layers, stages, devices, virtual_stages),
       .where = "uniform split",
       .fix = advice(uniform_alternatives(layers, devices, virtual_stages), virtual_stages),
       .why = fmt::format("{} / {} = {:.4g}; rounding down to {} builds {} layers and loses {}",
                          layers, stages, static_cast<double>(layers) / static_cast<double>(stages),
                          each, each * stages, layers - each * stages)});
}

}  // namespace headrace
