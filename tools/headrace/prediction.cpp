#include "tools/headrace/prediction.h"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/json/documents.h"
#include "tools/headrace/documents.h"
#include "tools/headrace/planned_schedule.h"

namespace headrace::cli {
namespace {

Result<SimulationOutcome> from_plan(const SourceText& source) {
  auto plan = plan_from_json(source.text, source.source);
  if (!plan) return Failure(plan.error());
  const auto scheduled = schedule_plan(*std::move(plan), {});
  if (!scheduled) return Failure(scheduled.error());
  return predict_plan(*scheduled);
}

Result<SimulationOutcome> from_timeline(const SourceText& source) {
  auto timeline = timeline_from_json(source.text, source.source);
  if (!timeline) return Failure(timeline.error());
  std::vector<DeviceId> device_of_stage(static_cast<std::size_t>(timeline->stages));
  for (const TimelineEvent& event : timeline->events) {
    device_of_stage[index_of(event.action.stage)] = event.device;
  }
  Simulation report = account(*timeline, device_of_stage, {}, {});
  return SimulationOutcome{std::move(report), *std::move(timeline)};
}

Result<SimulationOutcome> from_simulation(const SourceText& source) {
  auto report = simulation_from_json(source.text, source.source);
  if (!report) return Failure(report.error());
  Timeline totals_only{
      .devices = report->devices, .stages = report->stages, .microbatches = report->microbatches};
  return SimulationOutcome{*std::move(report), std::move(totals_only)};
}

}  // namespace

Result<SimulationOutcome> read_prediction(const std::string& path) {
  const auto source = read_source(path);
  if (!source) return Failure(source.error());
  const auto schema = schema_id_of(source->text, source->source);
  if (!schema) return Failure(schema.error());
  if (*schema == "headrace/plan/1") return from_plan(*source);
  if (*schema == "headrace/timeline/1") return from_timeline(*source);
  if (*schema == "headrace/simulation/1") return from_simulation(*source);
  return Failure(
      {.code = ErrorCode::kBadInput,
       .what = fmt::format("a {} is no prediction", *schema),
       .where = source->source,
       .fix = "give a plan, or the simulation or timeline that `headrace simulate` wrote"});
}

}  // namespace headrace::cli
