#include "simulator/schedules/automatic_fill.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace headrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class WeightFiller {
 public:
  WeightFiller(const PipelineTask& task, const Orders& orders, const FillRules& rules)
      : task_(task),
        rules_(rules),
        stages_(task.device_of_stage.size()),
        microbatches_(static_cast<std::size_t>(task.microbatches)),
        forward_arrival_(stages_ * microbatches_, kNever),
        backward_arrival_(stages_ * microbatches_, kNever),
        devices_(orders.size()),
        filled_(orders.size()) {
    std::fill_n(forward_arrival_.begin(), task.microbatches, 0.0);
    for (std::size_t d = 0; d < orders.size(); ++d) {
      devices_[d].row.reserve(orders[d].size());
      for (const Action& action : orders[d]) {
        if (action.kind != ActionKind::kWeightGrad) devices_[d].row.push_back(action);
      }
      filled_[d].reserve(devices_[d].row.size() / 2 * 3);
      devices_[d].limit = task.limit.empty() ? kNever : task.limit[d] * (1 + kHeldTolerance);
      const double backlog = rules.backlog + rules.backlog_slope * static_cast<double>(d);
      devices_[d].backlog = rules.backlog < 0 ? std::numeric_limits<std::size_t>::max()
                                              : static_cast<std::size_t>(backlog);
    }
  }

  std::optional<Orders> run() {
    for (std::size_t d = 0; d < devices_.size(); ++d) events_.emplace(0.0, d);
    while (!events_.empty()) {
      const auto [now, d] = events_.top();
      events_.pop();
      if (devices_[d].free <= now) decide(d, now);
    }
    for (const Device& device : devices_) {
      if (device.next < device.row.size() || !device.waiting.empty()) return std::nullopt;
    }
    return std::move(filled_);
  }

 private:
  struct Device {
    std::vector<Action> row;  ///< F and I.
    std::size_t next = 0;
    std::queue<Action> waiting;  ///< W that can run, oldest first.
    double free = 0;
    double held = 0;
    double limit = 0;
    std::size_t backlog = 0;
  };

  [[nodiscard]] std::size_t cell_of(const Action& action) const {
    return index_of(action.stage) * microbatches_ + index_of(action.microbatch);
  }

  void decide(std::size_t d, double now) {
    Device& device = devices_[d];
    if (device.waiting.size() > device.backlog) return weight(d, now);
    if (device.next == device.row.size()) {
      if (!device.waiting.empty()) weight(d, now);
      return;
    }
    const Action& action = device.row[device.next];
    const bool forward = action.kind == ActionKind::kForward;
    const double arrival =
        forward ? forward_arrival_[cell_of(action)] : backward_arrival_[cell_of(action)];
    const bool fits =
        !forward || device.held + task_.costs.activation[index_of(action.stage)] <= device.limit;
    if (arrival <= now && fits) return forward ? start_forward(d, now) : start_input(d, now);
    if (!device.waiting.empty() &&
        (!fits || arrival - now >= rules_.patience * weight_time(device.waiting.front()))) {
      return weight(d, now);
    }
    if (arrival > now && arrival < kNever) events_.emplace(arrival, d);
  }

  [[nodiscard]] double weight_time(const Action& action) const {
    return task_.costs.weight_grad[index_of(action.stage)].value();
  }

  void finish(std::size_t d, const Action& action, double end) {
    filled_[d].push_back(action);
    devices_[d].free = end;
    events_.emplace(end, d);
  }

  void tell(std::size_t stage, double now) {
    const std::size_t d = index_of(task_.device_of_stage[stage]);
    if (devices_[d].free <= now) events_.emplace(now, d);
  }

  void start_forward(std::size_t d, double now) {
    const Action action = devices_[d].row[devices_[d].next++];
    const std::size_t s = index_of(action.stage);
    const double end = now + task_.costs.forward[s].value();
    devices_[d].held += task_.costs.activation[s];
    finish(d, action, end);
    if (s + 1 == stages_) {
      backward_arrival_[cell_of(action)] = end;
    } else {
      forward_arrival_[cell_of(action) + microbatches_] = end + task_.costs.hop_forward[s].value();
      tell(s + 1, now);
    }
  }

  void start_input(std::size_t d, double now) {
    const Action action = devices_[d].row[devices_[d].next++];
    const std::size_t s = index_of(action.stage);
    const double end = now + task_.costs.input_grad[s].value();
    devices_[d].held -= task_.costs.freed_by_input[s];
    Action later = action;
    later.kind = ActionKind::kWeightGrad;
    devices_[d].waiting.push(later);
    finish(d, action, end);
    if (s == 0) return;
    backward_arrival_[cell_of(action) - microbatches_] =
        end + task_.costs.hop_backward[s - 1].value();
    tell(s - 1, now);
  }

  void weight(std::size_t d, double now) {
    const Action action = devices_[d].waiting.front();
    devices_[d].waiting.pop();
    const std::size_t s = index_of(action.stage);
    devices_[d].held -= task_.costs.activation[s] - task_.costs.freed_by_input[s];
    finish(d, action, now + weight_time(action));
  }

  using Event = std::pair<double, std::size_t>;

  const PipelineTask& task_;
  const FillRules& rules_;
  std::size_t stages_;
  std::size_t microbatches_;
  std::vector<double> forward_arrival_;
  std::vector<double> backward_arrival_;
  std::vector<Device> devices_;
  Orders filled_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

std::optional<Orders> fill_weights(const PipelineTask& task, const Orders& orders,
                                   const FillRules& rules) {
  return WeightFiller(task, orders, rules).run();
}

}  // namespace headrace
