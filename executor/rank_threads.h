// Ranks as threads of this process: for emulation and for tests of what processes do otherwise.
#pragma once

#include <functional>
#include <vector>

#include "core/result.h"
#include "executor/in_process_network.h"
#include "executor/runtime.h"

namespace headrace {

/// Runs `body` on one thread per rank and returns the records in rank order. A rank that fails
/// leaves the network, so that the others end, too; the error nearest to the cause is returned.
Result<std::vector<DeviceRecord>> run_rank_threads(
    InProcessNetwork& network, int ranks,
    const std::function<Result<DeviceRecord>(Channel&)>& body);

}  // namespace headrace
