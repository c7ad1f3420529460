// Whether the sends and receives that a schedule spells out are complete and in order.
#pragma once

#include "core/result.h"
#include "core/schedule.h"

namespace headrace {

/// Checks a valid schedule with SEND_/RECV_ actions: each output that another device needs is sent
/// once, behind the action that makes it, and received once, before the action that needs it;
/// gradients likewise; nothing else is sent. Fails with kBadInput; `where` is "rank 1 step 4".
/// A schedule without any send or receive passes. O(actions).
Result<void> validate_messages(const Schedule& schedule);

}  // namespace headrace
