// A plan, or stages given by flags, with changes: the input of a simulation and how it came about.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "simulator/simulate.h"
#include "tools/headrace/message_model.h"
#include "tools/headrace/planned_schedule.h"
#include "tools/headrace/stage_times.h"
#include "tools/headrace/variation_keys.h"

namespace headrace::cli {

/// What is varied.
struct VariationBase {
  std::optional<Plan> plan;       ///< Else `times`.
  std::vector<Profile> profiles;  ///< Of the plan's model, one per micro-batch size; may be empty.
  StageTimes times;
  ScheduleChoice schedule;
  SimulationChoice model;
};

struct VariedInput {
  SimulationInput input;
  std::string note;  ///< What was assumed.
};

/// The input with all changes. Changes of the layout (stages, virtual, micro-batch-size) cut a
/// plan's model anew as `headrace plan` does; without a plan equal stages are scaled to the same
/// work. Fails with kUsage on values that do not fit their key, on changes that need a profile that
/// is not there, and like the planner and the schedule's maker.
Result<VariedInput> varied_input(const VariationBase& base, std::span<const Change> changes);

}  // namespace headrace::cli
