// The schedule that a plan is simulated or run with: its own, or one the flags ask for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/plan.h"
#include "core/result.h"
#include "core/schedule.h"
#include "simulator/simulate.h"
#include "tools/headrace/flags.h"
#include "tools/headrace/message_model.h"

namespace headrace::cli {

/// What the flags say about the schedule; empty fields leave the plan's.
struct ScheduleChoice {
  std::string schedule;
  std::string csv_file;
  std::string csv_dialect = "torch2.6";
  std::optional<int> microbatches;
  std::optional<double> weight_grad_share;
};

/// Declares --micro-batches, --schedule, --schedule-csv, --csv-dialect and --weight-grad-share.
void add_schedule_flags(Flags& flags, ScheduleChoice& choice);

/// What a schedule is made for.
struct PipelineShape {
  int stages = 1;
  int devices = 1;
};

/// The schedule of --schedule-csv. Fails with kBadInput, or with kUsage where the file has other
/// stages or micro-batches than `stages` and --micro-batches ask for.
Result<Schedule> schedule_from_file(const ScheduleChoice& choice, std::optional<int> stages);

/// The costs of stages placed as in a schedule, for schedules that look at them.
using CostsOf = std::function<Result<ScheduleCosts>(const Schedule&)>;

/// A generated schedule: `text` is a name with parameters. Fails like make_schedule and `costs_of`,
/// which is asked only where the schedule looks at costs; without it all stages are equal.
Result<Schedule> generated_schedule(const std::string& text, const PipelineShape& shape,
                                    int microbatches, const CostsOf& costs_of = {});

/// A plan with the schedule it is to be run with; the plan's micro-batches and global batch follow
/// the schedule, and stages without I and W get them from --weight-grad-share.
struct ScheduledPlan {
  Plan plan;
  Schedule schedule;
  bool assumed_weight_grad = false;
};

Result<ScheduledPlan> schedule_plan(Plan plan, const ScheduleChoice& choice);

/// Simulates it: `simulation_input`, then `simulate_chosen`.
Result<SimulationOutcome> simulate_plan(const ScheduledPlan& scheduled,
                                        const SimulationChoice& choice = {});

/// The prediction that a measurement is held against: with a band where the plan's times have a
/// spread.
Result<SimulationOutcome> predict_plan(const ScheduledPlan& scheduled);

}  // namespace headrace::cli
