// The schedules that Headrace can make, one file each; schedule_catalogue.cpp holds their table.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/schedule.h"
#include "simulator/schedule_catalogue.h"

namespace headrace {

/// All forwards, then all backwards in the same order. GPipe (NeurIPS'19), section 2.3; the
/// backward order is that of torch.distributed.pipelining. m = 3, 2 stages, F = B = 1:
///   stage 0 | F0 F1 F2 .  .  B0 B1 B2
///   stage 1 | .  F0 F1 F2 B0 B1 B2 .
/// Peak activations M on every device.
Result<Schedule> gpipe_schedule(const ScheduleRequest& request);

/// One forward, one backward (PipeDream-Flush, DAPPLE). Stage s starts min(S - 1 - s, M) forwards,
/// then alternates F and B, then drains. m = 3, 2 stages, F = B = 1:
///   stage 0 | F0 F1 .  B0 F2 B1 .  B2
///   stage 1 | .  F0 B0 F1 B1 F2 B2 .
/// Same bubble as GPipe, peak activations min(S - s, M).
Result<Schedule> one_forward_one_backward_schedule(const ScheduleRequest& request);

/// All forwards, then all backwards in reverse order: torchgpipe's order, where autograd starts
/// with the last micro-batch. Time and memory as GPipe.
Result<Schedule> gpipe_lifo_schedule(const ScheduleRequest& request);

/// 1F1B that starts min(2 (P - 1 - r), M) forwards, so that hops hide behind them; Alpa's
/// 1f1b_overlap_friendly. Peak activations min(2 (P - 1 - r) + 1, M).
Result<Schedule> eager_one_forward_one_backward_schedule(const ScheduleRequest& request);

/// Interleaved 1F1B (Megatron-LM, SC'21, section 2.2): stage s stands on device s mod P, V stages
/// each. Micro-batches run in groups of `group` (default P) through chunk 0, 1, … V - 1; backwards
/// through V - 1 … 0. Warm-up min(2 (P - 1 - r) + (V - 1) group, M V). V = 1 and group = M is eager
/// 1F1B. P = 2, V = 2, M = 2:
///   device 0 | 0F0 0F1 2F0 2F1 .   2B0 2B1 0B0 …
/// Bubble (P - 1) / (V M + P - 1) of the makespan; device 0 holds 2 (P - 1) + (V - 1) group + 1
/// chunks. Refused where the default group leaves a last group smaller than P.
Result<Schedule> interleaved_schedule(const ScheduleRequest& request);

/// Breadth first (Lamy-Poirier 2022; PyTorch's LoopedBFS): every chunk runs all forwards before the
/// next chunk starts; backwards in reverse, last micro-batch first. Peak activations V M.
Result<Schedule> looped_breadth_first_schedule(const ScheduleRequest& request);

/// PyTorch's InterleavedZeroBubble: interleaved with P - 1 - r warm-up hops and backward split into
/// I and W, W r actions late, so that devices fill their bubbles with weight gradients.
Result<Schedule> interleaved_zero_bubble_schedule(const ScheduleRequest& request);

/// ZB-H1 (Qi et al., ICLR'24; ZB1P in PyTorch): interleaved zero bubble with one stage per device.
/// Bubble (P - 1)(F + I - W), memory as 1F1B.
Result<Schedule> zero_bubble_h1_schedule(const ScheduleRequest& request);

/// ZB-H2 (Qi et al., ICLR'24): warm-up 2 (P - 1 - r) + 1, W 2 r actions late. With F = I = W no
/// bubble where devices do not wait for one another before the optimizer; twice the memory of 1F1B.
Result<Schedule> zero_bubble_h2_schedule(const ScheduleRequest& request);

/// The best order of F, I and W found for the costs of the request, one stage per device, at most
/// `limit` (default 1p = P) micro-batches held per device until their W. `objective` makespan or
/// span; `effort` multiplies the tries. See automatic_search.h.
Result<Schedule> zero_bubble_automatic_schedule(const ScheduleRequest& request);

/// The same on a V: two stages per device, r and 2P - 1 - r; `limit` in whole micro-batches.
Result<Schedule> folded_automatic_schedule(const ScheduleRequest& request);

/// V-Half and V-Min (Qi et al., NeurIPS'24): v-auto with a limit of (P + 2) / 2 and of (P + 4) / 3
/// micro-batches, rounded down.
Result<Schedule> folded_half_schedule(const ScheduleRequest& request);
Result<Schedule> folded_least_schedule(const ScheduleRequest& request);

/// ZB-V (Qi et al., NeurIPS'24): two stages per device, device r holds r and 2P - 1 - r. For
/// F = I = W no bubble in the steady state, 2P chunks in flight on every device.
Result<Schedule> zero_bubble_v_schedule(const ScheduleRequest& request);

/// DualPipeV (DeepSeek 2025): DualPipe cut in half, V placement, F of one chunk beside B of the
/// other. Needs M >= 2P.
Result<Schedule> dual_pipe_v_schedule(const ScheduleRequest& request);

/// DualPipe (DeepSeek 2024): two replicas in opposite directions, stages r and 2P - 1 - r on device
/// r, half of the micro-batches entering at either end. F of one direction beside B of the other.
/// Bubble (P / 2 - 1)(F&B + B - 3 W), peak activations P + 1, two copies of the weights. Needs an
/// even P and an even M >= 2P.
Result<Schedule> dual_pipe_schedule(const ScheduleRequest& request);

/// Chimera (Li and Hoefler, SC'21): two replicas in opposite directions whose bubbles fill each
/// other, P / 2 micro-batches of each direction at a time. P = 4, M = 4, F = B = 1:
///   device 0 | 0F0  .   0F1  7F2  7B2  7F3  7B3  0B0  .   0B1
///   device 1 | .   1F0  6F2  1F1  6F3  6B2  1B0  6B3  1B1  .
/// Peak activations P / 2 + 1 … P, two copies of the weights. Needs an even P.
Result<Schedule> chimera_schedule(const ScheduleRequest& request);

/// Interleaving in groups (PipeOffload): a building block that repeats every 2 V slots. P = 2,
/// V = 2, group 1, F = I = 1, W = 0:
///   device 0 | 0F0  .   2F0  .   0F1 2I0 2F1 0I0 0F2 2I1 …
///   device 1 | .   1F0  .   3F0 3I0  1F1 1I0 3F1 3I1 1F2 …
/// In flight on device 0: 2 P chunks at group P and V = 2, fewer at P / 2. `group` <= P, default P.
Result<Schedule> group_interleaved_schedule(const ScheduleRequest& request);

/// Seq1F1B: 1F1B over `pieces` (default 4) pieces of every micro-batch's sequence; F ascending, B
/// descending within a micro-batch. Warm-up min(P - 2 - r + pieces, M pieces); in flight on device
/// 0: P - 1 + pieces pieces.
Result<Schedule> sequence_pieces_schedule(const ScheduleRequest& request);

/// 1F1B with F and B overlapped in the steady state: warm-up 2 (P - 1 - r) + 1, or with V stages
/// per device Megatron-LM's interleaved order with one forward more in the warm-up. P = 2, M = 4:
///   device 0 | F0 F1 F2 (F3;B0) B1 B2 B3
///   device 1 | .  F0 (F1;B0) (F2;B1) (F3;B2) B3
Result<Schedule> overlapped_schedule(const ScheduleRequest& request);

/// Hanayo: S = 2 W P stages in W waves over the devices, at most `limit` (default 2 P)
/// micro-batches on their way. Bubble about (2 P - 2) / (3 P W + P - 1) of the makespan for M = P
/// and B = 2 F.
Result<Schedule> hanayo_schedule(const ScheduleRequest& request);

/// PipeDream: the rows of 1F1B, never drained; stage s keeps S - s versions of its weights.
Result<Schedule> pipe_dream_schedule(const ScheduleRequest& request);

/// PipeDream-2BW: the same with two versions, gradients added up over several micro-batches.
Result<Schedule> pipe_dream_double_buffered_schedule(const ScheduleRequest& request);

/// Forwards only: inference.
Result<Schedule> forward_only_schedule(const ScheduleRequest& request);

/// One step of a device: a micro-batch on one of its chunks, chunk v being stage v P + r.
struct GroupedStep {
  int chunk;
  int microbatch;
};

/// Groups of `group` micro-batches, each through chunk 0 … V - 1 before the next group starts:
///   group 2, V = 2, M = 3:  chunk 0 0 1 1 0 1
///                           mb    0 1 0 1 2 2
std::vector<GroupedStep> grouped_steps(int microbatches, int chunks, int group);

/// The parameter `group`, default P. A last group smaller than the pipeline makes early devices
/// wait for chunks that late devices start only afterwards: some such schedules deadlock, and
/// Megatron-LM refuses them all (kInfeasible). A group that the user names is taken as it is.
Result<int> interleaving_group(const ScheduleRequest& request);

/// Turns micro-batches into pieces; kUsage where they are too many to simulate.
Result<void> multiply_microbatches(ScheduleRequest& request, int pieces);

/// A schedule without actions whose stage s stands on device s mod P. Generators fill its rows.
Schedule empty_loop_schedule(const ScheduleRequest& request);

/// A schedule without actions whose stages go to the last device and back, again and again.
Schedule empty_wave_schedule(const ScheduleRequest& request);

/// A schedule without actions whose device r holds stages r and 2P - 1 - r.
Schedule empty_v_schedule(const ScheduleRequest& request);

/// A schedule without actions of two replicas: device r holds stages r and 2P - 1 - r.
Schedule empty_two_way_schedule(const ScheduleRequest& request);

/// Gives the second replica, which was written with micro-batches from 0 on, its own ones.
void number_second_pipeline(Schedule& schedule);

/// Fails with kInfeasible unless there is one stage per device and an even number of them.
Result<void> require_even_devices(const ScheduleRequest& request);

/// Fails with kInfeasible unless there are exactly `per_device` stages per device.
Result<void> require_stages_per_device(const ScheduleRequest& request, int per_device);

/// Fails with kInfeasible unless the stages fill the devices evenly; gives stages per device.
Result<int> even_stages_per_device(const ScheduleRequest& request);

/// A positive whole-number parameter, or `fallback` where it is not given. kUsage otherwise.
Result<int> positive_parameter(const ScheduleRequest& request, const std::string& name,
                               int fallback);

}  // namespace headrace
