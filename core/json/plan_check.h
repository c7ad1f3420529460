// What must agree inside a plan: stages, devices, layers, borders.
#pragma once

#include "core/json/object_reader.h"
#include "core/plan.h"

namespace headrace {

/// Fails `root` unless there are pipeline x virtual stages, every stage has data x tensor devices
/// of the cluster and at least one layer, no layer stands in two stages, recomputed layers stand
/// in their stage, and every border follows the last layer of its stage.
void check_plan(const Place& root, const Plan& plan);

}  // namespace headrace
