// Results as text for a terminal: plain lines and aligned columns, no colour codes.
#pragma once

#include <string>

#include "core/comparison.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/simulation.h"
#include "core/timeline.h"

namespace headrace {

std::string profile_text(const Profile& profile);
std::string plan_text(const Plan& plan);  ///< With the reasons: bottleneck, bound, gap…
std::string simulation_text(const Simulation& simulation);  ///< With the formula beside it.
std::string comparison_text(const Comparison& comparison);

/// The timeline as a staircase, one row per device, one column per `tick`:
///   stage 0 | F0 F1 .  B0 F2 B1 .  B2
/// An action that lasts longer than a tick goes on as "-"; with several stages on a device the
/// rows are called devices and the actions name their stage.
/// Empty when it would be wider than `width` columns or when times are no multiples of a tick.
std::string staircase_text(const Timeline& timeline, int width = 120);

}  // namespace headrace
