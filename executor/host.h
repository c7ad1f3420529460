// What the runtime needs of this host: cores to stand on and a free port.
#pragma once

#include <vector>

#include "core/result.h"

namespace headrace {

/// The cores this process may use, in ascending order; never empty.
std::vector<int> allowed_cores();

/// Keeps the calling thread, and no other, on one core. Fails with kUnavailable.
Result<void> pin_this_thread(int core);

/// A TCP port of the loopback that nobody listens on at this moment. Fails with kUnavailable.
Result<int> free_port();

}  // namespace headrace
