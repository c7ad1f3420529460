// headrace-torch version: what this worker was built from.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "core/version.h"
#include "profiler/cpu/cpu_profiler.h"
#include "tools/headrace-torch/command.h"

namespace headrace::worker {

Action version_command(CLI::App&) {
  return []() -> Result<void> {
    fmt::print("headrace-torch {} with LibTorch {}\n", kVersion, libtorch_version());
    return {};
  };
}

}  // namespace headrace::worker
