#include "simulator/schedules/automatic_orders.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr Seconds kUnknown{-1};

/// Runs every device as far as its inputs are known; a device that stops is looked at again when a
/// neighbour has produced something.
class OrderTimer {
 public:
  OrderTimer(const PipelineTask& task, const Orders& orders)
      : task_(task),
        orders_(orders),
        stages_(task.device_of_stage.size()),
        microbatches_(static_cast<std::size_t>(task.microbatches)),
        forward_arrival_(stages_ * microbatches_, kUnknown),
        backward_arrival_(stages_ * microbatches_, kUnknown),
        position_(orders.size()),
        free_(orders.size()),
        first_start_(orders.size()),
        queued_(orders.size(), true) {
    std::fill_n(forward_arrival_.begin(), task.microbatches, Seconds{0});
  }

  std::optional<OrderTimes> run() {
    for (std::size_t d = orders_.size(); d-- > 0;) queue_.push_back(d);
    while (!queue_.empty()) {
      const std::size_t device = queue_.back();
      queue_.pop_back();
      queued_[device] = false;
      advance(device);
    }
    OrderTimes times;
    for (std::size_t d = 0; d < orders_.size(); ++d) {
      if (position_[d] < orders_[d].size()) return std::nullopt;
      times.makespan = std::max(times.makespan, free_[d]);
      times.span = std::max(times.span, free_[d] - first_start_[d]);
    }
    return times;
  }

 private:
  void advance(std::size_t device) {
    const std::vector<Action>& row = orders_[device];
    std::size_t& at = position_[device];
    Seconds now = free_[device];
    for (; at < row.size(); ++at) {
      const Action& action = row[at];
      const std::size_t s = index_of(action.stage);
      const std::size_t cell = s * microbatches_ + index_of(action.microbatch);
      Seconds ready{0};
      if (action.kind == ActionKind::kForward) {
        ready = forward_arrival_[cell];
      } else if (action.kind == ActionKind::kInputGrad) {
        ready = backward_arrival_[cell];
      }
      if (ready == kUnknown) break;
      const Seconds start = std::max(now, ready);
      if (at == 0) first_start_[device] = start;
      now = finish(action, s, cell, start);
    }
    free_[device] = now;
  }

  Seconds finish(const Action& action, std::size_t s, std::size_t cell, Seconds start) {
    const ScheduleCosts& costs = task_.costs;
    if (action.kind == ActionKind::kWeightGrad) return start + costs.weight_grad[s];
    if (action.kind == ActionKind::kForward) {
      const Seconds end = start + costs.forward[s];
      if (s + 1 == stages_) {
        backward_arrival_[cell] = end;
      } else {
        forward_arrival_[cell + microbatches_] = end + costs.hop_forward[s];
        wake(s + 1);
      }
      return end;
    }
    const Seconds end = start + costs.input_grad[s];
    if (s > 0) {
      backward_arrival_[cell - microbatches_] = end + costs.hop_backward[s - 1];
      wake(s - 1);
    }
    return end;
  }

  void wake(std::size_t stage) {
    const std::size_t device = index_of(task_.device_of_stage[stage]);
    if (queued_[device]) return;
    queued_[device] = true;
    queue_.push_back(device);
  }

  const PipelineTask& task_;
  const Orders& orders_;
  std::size_t stages_;
  std::size_t microbatches_;
  std::vector<Seconds> forward_arrival_;
  std::vector<Seconds> backward_arrival_;
  std::vector<std::size_t> position_;
  std::vector<Seconds> free_;
  std::vector<Seconds> first_start_;
  std::vector<bool> queued_;
  std::vector<std::size_t> queue_;
};

}  // namespace

std::optional<OrderTimes> time_orders(const PipelineTask& task, const Orders& orders) {
  return OrderTimer(task, orders).run();
}

double peak_of_row(const PipelineTask& task, const std::vector<Action>& row) {
  double held = 0;
  double peak = 0;
  for (const Action& action : row) {
    const std::size_t s = index_of(action.stage);
    const double freed_early = task.costs.freed_by_input[s];
    if (action.kind == ActionKind::kForward) held += task.costs.activation[s];
    if (action.kind == ActionKind::kInputGrad) held -= freed_early;
    if (action.kind == ActionKind::kWeightGrad) held -= task.costs.activation[s] - freed_early;
    peak = std::max(peak, held);
  }
  return peak;
}

std::vector<double> peak_held(const PipelineTask& task, const Orders& orders) {
  std::vector<double> peaks;
  for (const std::vector<Action>& row : orders) peaks.push_back(peak_of_row(task, row));
  return peaks;
}

bool within_limit(const PipelineTask& task, const Orders& orders) {
  if (task.limit.empty()) return true;
  const std::vector<double> peaks = peak_held(task, orders);
  for (std::size_t d = 0; d < peaks.size(); ++d) {
    if (peaks[d] > task.limit[d] * (1 + kHeldTolerance)) return false;
  }
  return true;
}

}  // namespace headrace
