#include "simulator/schedule_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace headrace {
namespace {

class Bounds {
 public:
  explicit Bounds(const PipelineTask& task) : task_(task), stages_(task.device_of_stage.size()) {
    // arrival_[s]: the first input of stage s; way_back_[s]: from the end of F of stage s to the
    // first gradient that reaches it.
    arrival_.assign(stages_, Seconds{0});
    for (std::size_t s = 0; s + 1 < stages_; ++s) {
      arrival_[s + 1] = arrival_[s] + task.costs.forward[s] + task.costs.hop_forward[s];
    }
    way_back_.assign(stages_, Seconds{0});
    for (std::size_t s = stages_ - 1; s-- > 0;) {
      way_back_[s] = task.costs.hop_forward[s] + task.costs.forward[s + 1] + way_back_[s + 1] +
                     task.costs.input_grad[s + 1] + task.costs.hop_backward[s];
    }
  }

  void improve(ScheduleBound& bound, Seconds time, std::string_view argument) const {
    if (time > bound.time) bound = {.time = time, .argument = argument};
  }

  [[nodiscard]] ScheduleBound of(ScheduleObjective objective) const {
    ScheduleBound bound;
    const auto devices = static_cast<std::size_t>(task_.devices);
    std::vector<Seconds> work(devices);
    std::vector<Seconds> fill(devices, Seconds{std::numeric_limits<double>::infinity()});
    std::vector<int> stages(devices);
    for (std::size_t s = 0; s < stages_; ++s) {
      const std::size_t d = index_of(task_.device_of_stage[s]);
      work[d] += (task_.costs.forward[s] + task_.costs.input_grad[s] + task_.costs.weight_grad[s]) *
                 static_cast<double>(task_.microbatches);
      fill[d] = std::min(fill[d], arrival_[s]);
      ++stages[d];
    }
    for (std::size_t d = 0; d < devices; ++d) {
      if (stages[d] == 0) continue;
      improve(bound, work[d], "work");
      if (objective == ScheduleObjective::kMakespan) improve(bound, fill[d] + work[d], "fill");
    }
    improve(bound, chain(), "chain");
    for (std::size_t s = 0; s < stages_; ++s) {
      const std::size_t d = index_of(task_.device_of_stage[s]);
      if (stages[d] != 1) continue;
      const Seconds start = objective == ScheduleObjective::kMakespan ? arrival_[s] : Seconds{0};
      improve(bound, start + work[d] + idle_for_memory(s, d), "memory");
    }
    return bound;
  }

 private:
  /// The first device starts, at the earliest, with the micro-batch that comes first at the last
  /// stage; that stage's device does all F and I there; the last gradient goes all the way back.
  [[nodiscard]] Seconds chain() const {
    const std::size_t last = stages_ - 1;
    Seconds time = arrival_[last];
    time += (task_.costs.forward[last] + task_.costs.input_grad[last]) *
            static_cast<double>(task_.microbatches);
    for (std::size_t s = last; s-- > 0;) {
      time += task_.costs.hop_backward[s] + task_.costs.input_grad[s];
    }
    return time + task_.costs.weight_grad[0];
  }

  /// Before its first gradient is back a device can only run forwards, as many as fit.
  [[nodiscard]] Seconds idle_for_memory(std::size_t s, std::size_t d) const {
    if (stages_ == 1 || s + 1 == stages_) return Seconds{0};
    double forwards = task_.microbatches;
    if (!task_.limit.empty() && task_.costs.activation[s] > 0) {
      forwards =
          std::min(forwards, std::floor(task_.limit[d] / task_.costs.activation[s] * (1 + 1e-9)));
    }
    const Seconds busy = task_.costs.forward[s] * (forwards - 1);
    return std::max(Seconds{0}, way_back_[s] - busy);
  }

  const PipelineTask& task_;
  std::size_t stages_;
  std::vector<Seconds> arrival_;
  std::vector<Seconds> way_back_;
};

}  // namespace

ScheduleBound schedule_bound(const PipelineTask& task, ScheduleObjective objective) {
  return Bounds(task).of(objective);
}

Seconds lower_bound(const PipelineTask& task, ScheduleObjective objective) {
  return schedule_bound(task, objective).time;
}

}  // namespace headrace
