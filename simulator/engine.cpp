#include "simulator/engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"
#include "simulator/host_copies.h"

namespace headrace {
namespace {

/// A message that a device waits for: the output (forward) or the input gradient (backward) of one
/// stage and micro-batch, as one number. kNothing where the action waits for nobody.
using Message = std::int64_t;
constexpr Message kNothing = -1;
constexpr std::ptrdiff_t kLookAhead = 32;
constexpr std::uint32_t kNobody = 0xffffffff;

/// When every message arrives. Times are kept with their sign turned, so that memory that the
/// system hands out as zeros says "not yet" and is touched once only.
class Arrivals {
 public:
  explicit Arrivals(std::size_t messages)
      : times_(static_cast<double*>(std::calloc(messages, sizeof(double)))) {
    if (times_ == nullptr) throw std::bad_alloc();
  }

  [[nodiscard]] bool known(Message message) const { return std::signbit(times_.get()[message]); }
  [[nodiscard]] double time(Message message) const { return -times_.get()[message]; }
  void set(Message message, double time) { times_.get()[message] = -time; }
  /// Fetches what will be set when the sender has come some micro-batches further.
  void prefetch(Message message) const { __builtin_prefetch(times_.get() + message + 24, 1); }

 private:
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };
  std::unique_ptr<double, Free> times_;
};

/// Runs the rows as far as messages allow, device by device, until all are done or all wait.
/// With kRecord the times of every action are kept.
template <bool kRecord>
class Engine {
 public:
  Engine(const SimulationInput& input, const ScheduleTraits& traits)
      : schedule_(input.schedule),
        microbatches_(schedule_.microbatches),
        message_count_(static_cast<std::int64_t>(schedule_.stages) * microbatches_),
        explicit_sends_(traits.messages),
        copies_(schedule_, traits.copies),
        arrival_(static_cast<std::size_t>(2 * message_count_)),
        next_(schedule_.rows.size(), 0),
        clock_(schedule_.rows.size(), 0.0),
        waits_for_(schedule_.rows.size(), kNothing),
        overlap_share_(input.overlap_share) {
    costs_.reserve(input.stages.size());
    for (std::size_t s = 0; s < input.stages.size(); ++s) costs_.push_back(stage_costs(input, s));
    for (std::size_t kind = 0; kind < input.durations.size(); ++kind) {
      if (!input.durations[kind].empty()) durations_[kind] = input.durations[kind].data();
    }
    if constexpr (kRecord) make_room();
  }

  Result<void> run() {
    for (std::size_t device = schedule_.rows.size(); device-- > 0;) ready_.push_back(device);
    while (!ready_.empty()) {
      const std::size_t device = ready_.back();
      ready_.pop_back();
      advance(device);
    }
    for (std::size_t device = 0; device < next_.size(); ++device) {
      if (next_[device] < schedule_.rows[device].size()) return deadlock(device);
    }
    return {};
  }

  [[nodiscard]] Seconds makespan() const { return Seconds(makespan_); }
  ActionTimes take_times() { return std::move(times_); }

 private:
  struct Costs {
    std::array<double, kComputeKinds> duration;  ///< By ActionKind F, B, I, W, R.
    double offload;                              ///< Of one micro-batch, one way.
    double forward_hop;                          ///< To stage s + 1; 0 on the same device.
    double backward_hop;                         ///< To stage s - 1.
    std::uint32_t forward_receiver;              ///< Device of stage s + 1.
    std::uint32_t backward_receiver;
    bool first;          ///< Of its replica: F needs no message.
    bool last;           ///< B and I need none.
    bool forward_local;  ///< Stage s + 1 is on the same device (or there is none).
    bool backward_local;
  };

  static Costs stage_costs(const SimulationInput& input, std::size_t s) {
    const StageCost& cost = input.stages[s];
    const auto& device = input.schedule.device_of_stage;
    const bool first = is_first_stage(input.schedule, static_cast<int>(s));
    const bool last = is_last_stage(input.schedule, static_cast<int>(s));
    const bool forward_local = last || device[s] == device[s + 1];
    const bool backward_local = first || device[s] == device[s - 1];
    return {.duration = {cost.forward.value(), cost.backward.value(),
                         cost.input_grad.value_or(Seconds{0}).value(),
                         cost.weight_grad.value_or(Seconds{0}).value(), cost.recompute.value()},
            .offload = cost.offload.value(),
            .forward_hop = forward_local ? 0 : input.hop_forward[s].value(),
            .backward_hop = backward_local ? 0 : input.hop_backward[s - 1].value(),
            .forward_receiver = last ? kNobody : static_cast<std::uint32_t>(device[s + 1]),
            .backward_receiver = first ? kNobody : static_cast<std::uint32_t>(device[s - 1]),
            .first = first,
            .last = last,
            .forward_local = forward_local,
            .backward_local = backward_local};
  }

  void make_room() {
    times_.row_begin.push_back(0);
    for (const auto& row : schedule_.rows) {
      times_.row_begin.push_back(times_.row_begin.back() + row.size());
    }
    times_.start.resize(times_.row_begin.back());
    times_.end.resize(times_.row_begin.back());
  }

  [[nodiscard]] std::size_t pair_of(const Action& action) const {
    return index_of(action.stage) * static_cast<std::size_t>(microbatches_) +
           index_of(action.microbatch);
  }
  [[nodiscard]] Message forward_message(std::int64_t stage, std::int64_t microbatch) const {
    return stage * microbatches_ + microbatch;
  }
  [[nodiscard]] Message backward_message(std::int64_t stage, std::int64_t microbatch) const {
    return message_count_ + stage * microbatches_ + microbatch;
  }

  [[nodiscard]] Message needed_by(const Action& action, const Costs& costs) const {
    const std::int64_t stage = number_of(action.stage);
    const std::int64_t microbatch = number_of(action.microbatch);
    if (action.kind == ActionKind::kForward) {
      return costs.first ? kNothing : forward_message(stage - 1, microbatch);
    }
    if (!passes_gradient(action.kind) || costs.last) return kNothing;
    return backward_message(stage + 1, microbatch);
  }

  [[nodiscard]] double duration_of(const Action& action, const Costs& costs) const {
    const auto kind = static_cast<std::size_t>(action.kind);
    return durations_[kind] == nullptr ? costs.duration[kind]
                                       : durations_[kind][pair_of(action)].value();
  }

  /// Moves `now` to when the input of `action` is there; false, and noted, where nobody knows yet.
  bool wait_for_input(std::size_t device, const Action& action, const Costs& costs, double& now) {
    now = std::max(now, copies_.ready(action));
    const Message needed = needed_by(action, costs);
    if (needed == kNothing) return true;
    if (!arrival_.known(needed)) {
      waits_for_[device] = needed;
      return false;
    }
    now = std::max(now, arrival_.time(needed));
    return true;
  }

  /// Runs `device` until it is done or waits.
  void advance(std::size_t device) {
    const std::vector<Action>& row = schedule_.rows[device];
    double now = clock_[device];
    std::size_t next = next_[device];
    waits_for_[device] = kNothing;
    for (; next < row.size(); ++next) {
      const Action& action = row[next];
      __builtin_prefetch(&action + kLookAhead);  // Hundreds of rows are too many for the hardware.
      if (action.overlaps_next && overlap_share_) {
        if (!run_pair(device, next, now)) break;
        ++next;
        continue;
      }
      const Costs& costs = costs_[index_of(action.stage)];
      if (is_copy(action.kind)) {
        const auto [start, end] = copies_.run(device, action, now, costs.offload);
        record(device, next, start, end);
        continue;
      }
      if (!wait_for_input(device, action, costs, now)) break;
      const double start = now;
      if (is_compute(action.kind)) {
        now += duration_of(action, costs);
        makespan_ = std::max(makespan_, now);
      }
      publish(action, costs, now);
      record(device, next, start, now);
    }
    next_[device] = next;
    clock_[device] = now;
  }

  /// Two overlapped actions: they start when both have their input and end together.
  bool run_pair(std::size_t device, std::size_t next, double& now) {
    const std::vector<Action>& row = schedule_.rows[device];
    double start = now;
    double work = 0;
    for (std::size_t i = next; i < next + 2; ++i) {
      const Costs& costs = costs_[index_of(row[i].stage)];
      if (!wait_for_input(device, row[i], costs, start)) return false;
      work += duration_of(row[i], costs);
    }
    now = start + *overlap_share_ * work;
    makespan_ = std::max(makespan_, now);
    for (std::size_t i = next; i < next + 2; ++i) {
      publish(row[i], costs_[index_of(row[i].stage)], now);
      record(device, i, start, now);
    }
    return true;
  }

  void record([[maybe_unused]] std::size_t device, [[maybe_unused]] std::size_t step,
              [[maybe_unused]] double start, [[maybe_unused]] double end) {
    if constexpr (kRecord) {
      times_.start[times_.row_begin[device] + step] = Seconds(start);
      times_.end[times_.row_begin[device] + step] = Seconds(end);
    }
  }

  /// Sends what `action` produced. Between devices a schedule with explicit sends sends at its
  /// SEND, a compute-only one at the end of the computation.
  void publish(const Action& action, const Costs& costs, double now) {
    const std::int64_t stage = number_of(action.stage);
    const std::int64_t microbatch = number_of(action.microbatch);
    switch (action.kind) {
      case ActionKind::kForward:
        if (explicit_sends_ && !costs.forward_local) return;
        [[fallthrough]];
      case ActionKind::kSendForward:
        deliver(forward_message(stage, microbatch), costs.forward_receiver,
                now + costs.forward_hop);
        break;
      case ActionKind::kBackward:
      case ActionKind::kInputGrad:
        if (explicit_sends_ && !costs.backward_local) return;
        [[fallthrough]];
      case ActionKind::kSendBackward:
        deliver(backward_message(stage, microbatch), costs.backward_receiver,
                now + costs.backward_hop);
        break;
      default:
        break;
    }
  }

  void deliver(Message message, std::uint32_t receiver, double arrival) {
    arrival_.set(message, arrival);
    arrival_.prefetch(message);
    if (receiver == kNobody || waits_for_[receiver] != message) return;
    waits_for_[receiver] = kNothing;
    ready_.push_back(receiver);
  }

  /// The action that would produce `message`, in schedule notation, and its device.
  [[nodiscard]] std::pair<std::string, std::size_t> producer_of(Message message) const {
    const bool forward = message < message_count_;
    const std::int64_t place = forward ? message : message - message_count_;
    const auto stage = static_cast<std::size_t>(place / microbatches_);
    const std::size_t device = index_of(schedule_.device_of_stage[stage]);
    const auto makes = [&](const Action& action) {
      if (index_of(action.stage) != stage ||
          number_of(action.microbatch) != place % microbatches_) {
        return false;
      }
      if (forward) return action.kind == ActionKind::kForward;
      return action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
    };
    const auto sends = [&](const Action& action) {
      return index_of(action.stage) == stage &&
             number_of(action.microbatch) == place % microbatches_ &&
             action.kind == (forward ? ActionKind::kSendForward : ActionKind::kSendBackward);
    };
    const auto& row = schedule_.rows[device];
    auto found = std::ranges::find_if(row, sends);
    if (found == row.end()) found = std::ranges::find_if(row, makes);
    return {found == row.end() ? std::string("nothing that exists") : to_string(*found), device};
  }

  /// Follows who waits for whom from `device` until a device comes up again: that is the cycle.
  [[nodiscard]] Failure deadlock(std::size_t device) const {
    std::vector<std::size_t> path;
    while (std::ranges::find(path, device) == path.end() && waits_for_[device] != kNothing) {
      path.push_back(device);
      device = producer_of(waits_for_[device]).second;
    }
    path.erase(path.begin(), std::ranges::find(path, device));
    std::vector<BlockedAction> cycle;
    for (const std::size_t blocked : path) {
      cycle.push_back({.device = static_cast<int>(blocked),
                       .action = to_string(schedule_.rows[blocked][next_[blocked]]),
                       .waits_for = producer_of(waits_for_[blocked]).first});
    }
    return Failure({.code = ErrorCode::kDeadlock,
                    .what = fmt::format("the schedule waits for itself: {} device{} in a circle",
                                        cycle.size(), cycle.size() == 1 ? "" : "s"),
                    .where = fmt::format("device {} step {}", device, next_[device]),
                    .fix = "move one of these actions behind what it waits for",
                    .cycle = std::move(cycle)});
  }

  const Schedule& schedule_;
  std::int64_t microbatches_;
  std::int64_t message_count_;
  bool explicit_sends_;
  HostCopies copies_;
  std::vector<Costs> costs_;
  std::array<const Seconds*, kComputeKinds> durations_{};  ///< Null: as in costs_.
  Arrivals arrival_;                ///< By message; kNotYet until it was sent.
  std::vector<std::size_t> next_;   ///< By device: the action to run next.
  std::vector<double> clock_;       ///< By device: end of its last action.
  std::vector<Message> waits_for_;  ///< By device.
  std::optional<double> overlap_share_;
  std::vector<std::size_t> ready_;  ///< Devices that can go on; the last one first.
  double makespan_ = 0;
  ActionTimes times_;
};

Result<void> check_costs(const SimulationInput& input, const ScheduleTraits& traits) {
  const auto stages = static_cast<std::size_t>(input.schedule.stages);
  HEADRACE_CHECK(input.stages.size() == stages, "one cost per stage");
  HEADRACE_CHECK(input.hop_forward.size() == stages && input.hop_backward.size() == stages,
                 "one hop per stage");
  if (!traits.split_backward) return {};
  for (std::size_t s = 0; s < stages; ++s) {
    if (input.stages[s].input_grad && input.stages[s].weight_grad) continue;
    return Failure(
        {.code = ErrorCode::kBadInput,
         .what = fmt::format("the schedule splits backward into I and W, but stage {} "
                             "has no times for them",
                             s),
         .where = fmt::format("stage {}", s),
         .fix = "profile with split backward, or assume a share: --weight-grad-share 0.5"});
  }
  return {};
}

}  // namespace

Result<void> check_costs(const SimulationInput& input) {
  return check_costs(input, traits_of(input.schedule));
}

Seconds action_duration(const SimulationInput& input, const Action& action) {
  const std::vector<Seconds>& own = input.durations[static_cast<std::size_t>(action.kind)];
  if (!own.empty()) {
    return own[index_of(action.stage) * static_cast<std::size_t>(input.schedule.microbatches) +
               index_of(action.microbatch)];
  }
  const StageCost& cost = input.stages[index_of(action.stage)];
  switch (action.kind) {
    case ActionKind::kForward:
      return cost.forward;
    case ActionKind::kBackward:
      return cost.backward;
    case ActionKind::kInputGrad:
      return cost.input_grad.value_or(Seconds{0});
    case ActionKind::kRecompute:
      return cost.recompute;
    default:
      return cost.weight_grad.value_or(Seconds{0});
  }
}

Result<ActionTimes> time_actions(const SimulationInput& input) {
  const ScheduleTraits traits = traits_of(input.schedule);
  if (auto ok = check_costs(input, traits); !ok) return Failure(ok.error());
  Engine<true> engine(input, traits);
  if (auto ok = engine.run(); !ok) return Failure(ok.error());
  return engine.take_times();
}

Result<Seconds> time_makespan(const SimulationInput& input) {
  const ScheduleTraits traits = traits_of(input.schedule);
  if (auto ok = check_costs(input, traits); !ok) return Failure(ok.error());
  Engine<false> engine(input, traits);
  if (auto ok = engine.run(); !ok) return Failure(ok.error());
  return engine.makespan();
}

}  // namespace headrace
