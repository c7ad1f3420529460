// Runs one device's row of a schedule, iteration by iteration, and notes when everything happened.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/schedule.h"
#include "core/timeline.h"
#include "core/units.h"
#include "executor/channel.h"
#include "executor/run.h"
#include "executor/stage_backend.h"

namespace headrace {

/// One measured iteration of one device, in seconds of rank 0's clock since its epoch. Receives in
/// `events` last from when the device had nothing else to do until the message was there.
struct IterationRecord {
  std::vector<TimelineEvent> events;
  std::vector<MemorySample> memory = {};
  Seconds finished{0};  ///< After exchange of gradients and optimizer step.
  friend bool operator==(const IterationRecord&, const IterationRecord&) = default;
};

/// What one device measured: its iterations after the warm-up.
using DeviceRecord = std::vector<IterationRecord>;

/// One device's part of a run; its number is the channel's rank.
struct DeviceTask {
  const Schedule& schedule;
  StageBackend& backend;
  Channel& channel;
  RunOptions options = {};
  /// Called on every rank after each iteration, warm-up included, before the next begins.
  std::function<Result<void>(int iteration)> after_iteration = {};
};

/// Runs warm-up and measured iterations of the very row that was simulated. Receives are posted
/// early, a few ahead in the order in which their messages are needed; sends are posted as soon as
/// the tensor exists and waited for when the answer to them has come or the iteration ends. No wait
/// is longer than the timeout.
///
/// All ranks of the channel must call it with the same schedule, which must be valid.
/// Fails with kTimeout naming rank, action and peer, with kDeadlock when the row contradicts
/// itself, with kBadInput when the schedule has another number of devices than there are ranks.
Result<DeviceRecord> run_device(const DeviceTask& task);

/// Brings all records to rank 0, in rank order; the other ranks get nothing.
Result<std::vector<DeviceRecord>> gather_records(Channel& channel, const DeviceRecord& record,
                                                 Seconds timeout);

/// One timeline of all devices' records: all iterations' times, and the events and memory of the
/// one whose iteration time is the median, from its first event on. Records must be of equal
/// length and not empty.
Timeline timeline_of(std::span<const DeviceRecord> records, const Schedule& schedule,
                     TimelineSource source);

}  // namespace headrace
