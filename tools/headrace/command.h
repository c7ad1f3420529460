// The shape of a sub-command. One command, one file: tools/headrace/<name>_command.cpp.
#pragma once

#include <functional>

#include "core/result.h"
#include "tools/headrace/console.h"
#include "tools/headrace/flags.h"

namespace headrace::cli {

/// What a command does once its flags are parsed.
using Action = std::function<Result<void>(Console&)>;

// Each declares its flags and returns what runs when they are filled.
Action profile_command(Flags& flags);
Action import_command(Flags& flags);
Action plan_command(Flags& flags);
Action simulate_command(Flags& flags);
Action whatif_command(Flags& flags);
Action run_command(Flags& flags);
Action compare_command(Flags& flags);
Action schema_command(Flags& flags);
Action doctor_command(Flags& flags);

}  // namespace headrace::cli
