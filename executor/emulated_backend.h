// Stages whose work is to wait as long as the plan says.
#pragma once

#include <memory>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "core/schedule.h"
#include "core/units.h"
#include "executor/channel.h"
#include "executor/stage_backend.h"

namespace headrace {

/// How long each action of one stage takes.
struct EmulatedStage {
  Seconds forward{0};
  Seconds backward{0};
  Seconds input_grad{0};
  Seconds weight_grad{0};
};

struct EmulatedTimes {
  std::vector<EmulatedStage> stages;
  Seconds optimizer{0};
  Seconds spin{0};  ///< Length of the busy wait that ends every action.
};

/// Waits to absolute deadlines: an action that follows another without a wait between begins, as
/// far as its length is concerned, when that one was due, so that late wake-ups do not add up.
/// Boundary tensors are empty.
std::unique_ptr<StageBackend> make_emulated_backend(EmulatedTimes times);

}  // namespace headrace
