// PyTorch's pipelining CSV: one row per rank, one action per cell.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/schedule.h"

namespace headrace {

/// torch2.6+ (`B` = whole backward, `I` = input gradient), or the 2.5 / artifact dialect (`B` =
/// input gradient, `BW` = whole backward, `W` = weight gradient). Never guessed.
enum class CsvDialect { kTorch26, kTorch25 };

/// Reads a schedule; the stage -> rank map is inferred from the rows. Blank cells are idle steps
/// and are dropped. With sends and receives in it the file is taken as compute_comms, where blank
/// cells are refused. The result passes `validate`. Fails with kBadInput naming
/// "source: rank 1 step 4". Source: torch/distributed/pipelining/schedules.py, _load_csv.
Result<Schedule> schedule_from_csv(std::string_view text, std::string_view source,
                                   CsvDialect dialect = CsvDialect::kTorch26);

/// The 2.6+ form; reading it back gives an equal schedule (but for its name).
std::string to_csv(const Schedule& schedule);

}  // namespace headrace
