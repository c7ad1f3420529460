// Which schedules other frameworks run, and with which numbers of micro-batches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace headrace {

enum class Framework { kMegatron, kTorch, kDeepSpeed, kZeroBubble };

/// "megatron", "torch", "deepspeed", "zero-bubble".
std::string_view name_of(Framework framework);
std::optional<Framework> framework_from_name(std::string_view name);

/// A schedule as a framework would be asked for it.
struct ScheduleUse {
  std::string schedule;           ///< Our name: "interleaved".
  int devices = 1;                ///< P.
  int stages = 1;                 ///< S = P V.
  int microbatches = 1;           ///< M.
  std::optional<int> group = {};  ///< N, micro-batches per group; absent: P.
  /// Where M comes from: global batch / (micro-batch size x data replicas). 0: unknown.
  int global_batch = 0;
  int micro_batch_size = 0;
  int data = 0;
};

/// Fails with kInfeasible where the framework has no such schedule or refuses these numbers; the
/// message has the rule with the numbers in it and the smallest change that is accepted. Rules as
/// of Megatron-LM core 0.20 (schedules.py, arguments.py), torch.distributed.pipelining 2.14
/// (schedules.py), DeepSpeed 0.17 (pipe/schedule.py) and zero-bubble's main branch.
Result<void> check_schedule(Framework framework, const ScheduleUse& use);

/// The groups N that Megatron-LM accepts for P devices and M micro-batches: P <= N <= M and M mod N
/// is 0 or at least P. Ascending.
std::vector<int> valid_groups(int devices, int microbatches);

}  // namespace headrace
