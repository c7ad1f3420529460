// Adds sends and receives to a compute-only schedule.
#pragma once

#include "core/result.h"
#include "core/schedule.h"

namespace headrace {

struct LoweringOptions {
  /// Each receive stands right before the action that needs it, instead of where its sender has
  /// just sent: no independent action waits behind it.
  bool defer_receives = false;
  /// Also adds UNSHARD, RESHARD and REDUCE_GRAD, with at most `active_stages` stages unsharded.
  bool shard_actions = false;
  int active_stages = 3;
};

/// The order of torch.distributed.pipelining (_add_unshard_reshard, _add_reduce_grad,
/// _add_send_recv): rank by rank one action per sweep; a send is followed at once by its receive on
/// the other rank, so that all ranks agree on the order of messages. Messages between stages of one
/// device need neither. Fails with kDeadlock where the rows wait for one another.
Result<Schedule> lower(const Schedule& compute, const LoweringOptions& options = {});

}  // namespace headrace
