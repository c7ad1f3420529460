// `simulate` without files: a pipeline described by flags alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "simulator/simulate.h"
#include "tools/headrace/flags.h"
#include "tools/headrace/planned_schedule.h"

namespace headrace::cli {

struct StageTimes {
  std::optional<int> stages;
  std::optional<int> virtual_stages;
  std::vector<Seconds> forward;
  std::vector<Seconds> backward;
  std::vector<Seconds> weight_grad;
  std::optional<Seconds> hop;
  std::optional<ActivationList> activation;  ///< Absent: 1 / V, a device's share of a stage.
  std::vector<Bytes> state;
  std::vector<Bytes> message;
  std::optional<Bytes> memory;
  std::vector<Seconds> reduce_gradient;
  std::optional<Seconds> reduce_tied;
  std::optional<Seconds> optimizer_step;
};

/// Declares --stages, --virtual, --forward, --backward, --weight-grad, --hop and --activation, and
/// by subject what fills the memory and what an iteration ends with.
void add_stage_flags(Flags& flags, StageTimes& times);
void add_stage_detail_flags(Flags& flags, StageTimes& times);

/// The first of these flags that was given, for the message that they do not go with a plan.
std::optional<std::string> given_stage_flag(const StageTimes& times);

/// Fails with kUsage on a missing flag, a list of the wrong length, W longer than backward, or
/// stages that the virtual stages do not divide; and like the schedule's maker.
Result<SimulationInput> input_from_flags(const StageTimes& times, const ScheduleChoice& choice);

}  // namespace headrace::cli
