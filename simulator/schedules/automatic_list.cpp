#include "simulator/schedules/automatic_list.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace headrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class ListScheduler {
 public:
  ListScheduler(const PipelineTask& task, const ListRules& rules)
      : task_(task),
        rules_(rules),
        stages_(task.device_of_stage.size()),
        microbatches_(static_cast<std::size_t>(task.microbatches)),
        forward_arrival_(stages_ * microbatches_, kNever),
        backward_arrival_(stages_ * microbatches_, kNever),
        progress_(stages_),
        devices_(static_cast<std::size_t>(task.devices)),
        orders_(devices_.size()) {
    std::fill_n(forward_arrival_.begin(), task.microbatches, 0.0);
    for (std::size_t s = 0; s < stages_; ++s) {
      devices_[index_of(task.device_of_stage[s])].stages.push_back(s);
    }
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      devices_[d].backlog = rules.backlog.at(static_cast<int>(d));
      devices_[d].limit = task.limit.empty() ? kNever : task.limit[d] * (1 + kHeldTolerance);
      orders_[d].reserve(devices_[d].stages.size() * microbatches_ * 3);
    }
    for (std::size_t s = 0; s < stages_; ++s) set_caps(s);
  }

  std::optional<Orders> run() {
    for (std::size_t d = 0; d < devices_.size(); ++d) events_.emplace(0.0, d);
    while (!events_.empty()) {
      const auto [now, d] = events_.top();
      events_.pop();
      if (devices_[d].free <= now) decide(d, now);
    }
    for (const Progress& stage : progress_) {
      if (stage.weights < microbatches_) return std::nullopt;
    }
    return std::move(orders_);
  }

 private:
  struct Progress {
    std::size_t forwards = 0;
    std::size_t inputs = 0;
    std::size_t weights = 0;
    std::size_t in_flight = 0;  ///< Most forwards ahead of the inputs.
    double ceiling = 0;         ///< Most that this and earlier stages of the device may hold.
  };
  struct Device {
    std::vector<std::size_t> stages;
    double free = 0;
    double held = 0;
    double limit = 0;
    int pending = 0;  ///< W that can run.
    int backlog = 0;
  };
  struct Choice {
    double arrival = kNever;
    std::size_t stage = 0;
  };

  void set_caps(std::size_t s) {
    const auto d = static_cast<int>(index_of(task_.device_of_stage[s]));
    Device& device = devices_[static_cast<std::size_t>(d)];
    progress_[s].in_flight =
        static_cast<std::size_t>(std::max(1, rules_.in_flight.at(task_.devices - 1 - d)));
    progress_[s].ceiling = device.limit;
    for (const std::size_t later : device.stages) {
      if (later <= s) continue;
      progress_[s].ceiling -= task_.costs.activation[later] * std::max(1, rules_.reserve.at(d));
    }
    double needed = 0;  // One micro-batch of this and the earlier stages always goes in.
    for (const std::size_t stage : device.stages) {
      if (stage <= s) needed += task_.costs.activation[stage];
    }
    double later_needs = 0;
    for (const std::size_t stage : device.stages) {
      if (stage > s) later_needs += task_.costs.activation[stage];
    }
    progress_[s].ceiling =
        std::min(std::max(progress_[s].ceiling, needed), device.limit - later_needs);
  }

  [[nodiscard]] double held_by_earlier(const Device& device, std::size_t s) const {
    double held = 0;
    for (const std::size_t stage : device.stages) {
      if (stage > s) break;
      const Progress& at = progress_[stage];
      const double early = task_.costs.freed_by_input[stage];
      held += static_cast<double>(at.forwards - at.weights) * task_.costs.activation[stage] -
              static_cast<double>(at.inputs - at.weights) * early;
    }
    return held;
  }

  [[nodiscard]] bool fits(const Device& device, std::size_t s) const {
    const double more = task_.costs.activation[s];
    if (device.held + more > device.limit) return false;
    return device.stages.size() == 1 || held_by_earlier(device, s) + more <= progress_[s].ceiling;
  }

  /// Forward and input gradient that come next: ready ones by priority, else the next to arrive.
  void find(const Device& device, double now, Choice& forward, Choice& input,
            bool& blocked_by_memory) const {
    for (std::size_t i = device.stages.size(); i-- > 0;) {
      const std::size_t s = device.stages[i];
      const Progress& at = progress_[s];
      if (at.inputs < at.forwards) {
        improve(input, {backward_arrival_[s * microbatches_ + at.inputs], s}, now);
      }
      if (at.forwards == microbatches_ || at.forwards - at.inputs >= at.in_flight) continue;
      const Choice next{forward_arrival_[s * microbatches_ + at.forwards], s};
      if (fits(device, s)) {
        improve(forward, next, now);
      } else if (next.arrival <= now) {
        blocked_by_memory = true;
      }
    }
  }

  /// Stages come in falling order: among ready ones the later stage stays.
  void improve(Choice& best, const Choice& next, double now) const {
    const bool both_ready = best.arrival <= now && next.arrival <= now;
    if (both_ready && rules_.priority != ListPriority::kArrival) return;
    if (next.arrival < best.arrival) best = next;
  }

  /// An F or I that could be next on a device.
  struct Candidate {
    double place = kNever;
    double arrival = kNever;
    std::size_t stage = 0;
    bool forward = true;
  };

  void decide_by_pattern(std::size_t d, double now) {
    Device& device = devices_[d];
    if (device.pending > device.backlog) return weight(d, now);
    Candidate ready;
    Candidate awaited;  // The next to arrive of those that belong before `ready`.
    double next = kNever;
    bool blocked_by_memory = false;
    const auto consider = [&](const Candidate& candidate) {
      if (candidate.arrival <= now) {
        if (candidate.place < ready.place) ready = candidate;
      } else {
        next = std::min(next, candidate.arrival);
      }
    };
    for_each_candidate(device, now, blocked_by_memory, consider);
    if (ready.place == kNever) {
      if (device.pending > 0 &&
          (blocked_by_memory || next - now >= rules_.weight_patience * weight_time(device))) {
        return weight(d, now);
      }
      if (next < kNever) events_.emplace(next, d);
      return;
    }
    if (rules_.forward_patience > 0) {
      for_each_candidate(device, now, blocked_by_memory, [&](const Candidate& candidate) {
        if (candidate.arrival > now && candidate.place < ready.place &&
            candidate.arrival < awaited.arrival) {
          awaited = candidate;
        }
      });
      if (awaited.arrival - now < rules_.forward_patience * time_of(ready)) {
        events_.emplace(awaited.arrival, d);
        return;
      }
    }
    return ready.forward ? start_forward(d, ready.stage, now) : start_input(d, ready.stage, now);
  }

  [[nodiscard]] double time_of(const Candidate& candidate) const {
    return candidate.forward ? forward_time(candidate.stage)
                             : task_.costs.input_grad[candidate.stage].value();
  }

  template <typename Consider>
  void for_each_candidate(const Device& device, double now, bool& blocked_by_memory,
                          Consider consider) const {
    const ListPattern& pattern = *rules_.pattern;
    for (const std::size_t s : device.stages) {
      const Progress& at = progress_[s];
      if (at.inputs < at.forwards) {
        consider({static_cast<double>(at.inputs) * pattern.period + pattern.input[s],
                  backward_arrival_[s * microbatches_ + at.inputs], s, false});
      }
      if (at.forwards == microbatches_ || at.forwards - at.inputs >= at.in_flight) continue;
      const double arrival = forward_arrival_[s * microbatches_ + at.forwards];
      if (fits(device, s)) {
        consider({static_cast<double>(at.forwards) * pattern.period + pattern.forward[s], arrival,
                  s, true});
      } else if (arrival <= now) {
        blocked_by_memory = true;
      }
    }
  }

  void decide(std::size_t d, double now) {
    if (rules_.pattern != nullptr) return decide_by_pattern(d, now);
    Device& device = devices_[d];
    Choice forward;
    Choice input;
    bool blocked_by_memory = false;
    find(device, now, forward, input, blocked_by_memory);
    if (device.pending > device.backlog) return weight(d, now);
    const bool input_ready = input.arrival <= now;
    bool forward_ready = forward.arrival <= now;
    if (forward_ready && !input_ready &&
        input.arrival - now < rules_.forward_patience * forward_time(forward.stage)) {
      forward_ready = false;
      forward.arrival = kNever;
    }
    if (input_ready && forward_ready) {
      const bool forward_first =
          rules_.priority == ListPriority::kForward ||
          (rules_.priority == ListPriority::kArrival && forward.arrival < input.arrival);
      return forward_first ? start_forward(d, forward.stage, now)
                           : start_input(d, input.stage, now);
    }
    if (input_ready) return start_input(d, input.stage, now);
    if (forward_ready) return start_forward(d, forward.stage, now);
    const double next = std::min(forward.arrival, input.arrival);
    if (device.pending > 0 &&
        (blocked_by_memory || next - now >= rules_.weight_patience * weight_time(device))) {
      return weight(d, now);
    }
    if (next < kNever) events_.emplace(next, d);
  }

  [[nodiscard]] double forward_time(std::size_t s) const { return task_.costs.forward[s].value(); }

  [[nodiscard]] std::size_t oldest_weight(const Device& device) const {
    std::size_t best = stages_;
    for (std::size_t i = device.stages.size(); i-- > 0;) {
      const std::size_t s = device.stages[i];
      if (progress_[s].weights == progress_[s].inputs) continue;
      if (best == stages_ || progress_[s].weights < progress_[best].weights) best = s;
    }
    return best;
  }

  [[nodiscard]] double weight_time(const Device& device) const {
    return task_.costs.weight_grad[oldest_weight(device)].value();
  }

  void add(std::size_t d, ActionKind kind, std::size_t s, std::size_t microbatch, double end) {
    orders_[d].push_back({.kind = kind,
                          .stage = StageId{static_cast<int>(s)},
                          .microbatch = MicrobatchId{static_cast<int>(microbatch)}});
    devices_[d].free = end;
    events_.emplace(end, d);
  }

  void tell(std::size_t stage, double arrival, double now) {
    const std::size_t d = index_of(task_.device_of_stage[stage]);
    if (devices_[d].free <= now) events_.emplace(now, d);
    static_cast<void>(arrival);
  }

  void start_forward(std::size_t d, std::size_t s, double now) {
    const std::size_t cell = s * microbatches_ + progress_[s].forwards;
    const double end = now + forward_time(s);
    add(d, ActionKind::kForward, s, progress_[s].forwards++, end);
    devices_[d].held += task_.costs.activation[s];
    if (s + 1 == stages_) {
      backward_arrival_[cell] = end;
    } else {
      forward_arrival_[cell + microbatches_] = end + task_.costs.hop_forward[s].value();
      tell(s + 1, end, now);
    }
  }

  void start_input(std::size_t d, std::size_t s, double now) {
    const std::size_t cell = s * microbatches_ + progress_[s].inputs;
    const double end = now + task_.costs.input_grad[s].value();
    add(d, ActionKind::kInputGrad, s, progress_[s].inputs++, end);
    devices_[d].held -= task_.costs.freed_by_input[s];
    ++devices_[d].pending;
    if (s == 0) return;
    backward_arrival_[cell - microbatches_] = end + task_.costs.hop_backward[s - 1].value();
    tell(s - 1, end, now);
  }

  void weight(std::size_t d, double now) {
    const std::size_t s = oldest_weight(devices_[d]);
    add(d, ActionKind::kWeightGrad, s, progress_[s].weights++,
        now + task_.costs.weight_grad[s].value());
    devices_[d].held -= task_.costs.activation[s] - task_.costs.freed_by_input[s];
    --devices_[d].pending;
  }

  using Event = std::pair<double, std::size_t>;

  const PipelineTask& task_;
  const ListRules& rules_;
  std::size_t stages_;
  std::size_t microbatches_;
  std::vector<double> forward_arrival_;
  std::vector<double> backward_arrival_;
  std::vector<Progress> progress_;
  std::vector<Device> devices_;
  Orders orders_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

std::optional<Orders> list_orders(const PipelineTask& task, const ListRules& rules) {
  return ListScheduler(task, rules).run();
}

}  // namespace headrace
