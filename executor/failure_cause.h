// Which of several ranks' errors to report: the cause, not what it brought about.
#pragma once

#include "core/result.h"

namespace headrace {

/// 0: a cause of its own; 1: waited in vain for a peer; 2: lost a peer that failed first.
int distance_from_cause(const Error& error);

}  // namespace headrace
