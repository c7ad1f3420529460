// Every schedule by name: one generator file each in schedules/, one line each in the table.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/schedule.h"
#include "simulator/schedule_costs.h"

namespace headrace {

/// What a generator needs. `stages` is the total S = devices x virtual stages.
struct ScheduleRequest {
  std::string name = "1f1b";
  std::map<std::string, std::string> parameters = {};
  int devices = 1;
  int stages = 1;
  int microbatches = 1;
  /// Of every stage, for schedules that look at costs; absent: all equal.
  std::optional<ScheduleCosts> costs = {};
};

/// Makes the action lists of a schedule, compute only. Fails with kUsage on an unknown name (with
/// "did you mean") or parameter, with kInfeasible where the schedule is not defined for the counts
/// (with the arithmetic). O(actions).
Result<Schedule> make_schedule(const ScheduleRequest& request);

/// "1f1b", "interleaved:group=6" -> name and parameters. kUsage on malformed text.
Result<ScheduleRequest> schedule_request_from_text(std::string_view text);

/// All names, in the order `--help` lists them.
std::span<const std::string_view> schedule_names();

/// True for schedules that are searched for the costs of their request.
bool looks_at_costs(std::string_view name);

/// Virtual stages per device that a schedule asks for when none are named: 1 or 2.
int default_virtual_stages(std::string_view name);

}  // namespace headrace
