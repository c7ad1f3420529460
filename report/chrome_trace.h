// Timeline -> Chrome trace events, which Perfetto and chrome://tracing open.
#pragma once

#include <string>

#include "core/timeline.h"

namespace headrace {

/// One process per device; thread 0 compute, 1 sends, 2 receives; a memory counter; a flow arrow
/// per message between devices. Slices of a thread never overlap. Times in microseconds.
std::string chrome_trace(const Timeline& timeline);

}  // namespace headrace
