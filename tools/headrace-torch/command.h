// The shape of a worker's verb. One verb, one file: tools/headrace-torch/<name>_command.cpp.
#pragma once

#include <functional>

#include "core/result.h"

namespace CLI {
class App;
}

namespace headrace::worker {

/// What a verb does once its flags are parsed.
using Action = std::function<Result<void>()>;

Action link_command(CLI::App& app);
Action profile_command(CLI::App& app);
Action run_command(CLI::App& app);
Action version_command(CLI::App& app);

}  // namespace headrace::worker
