#include "simulator/iteration_end.h"

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

constexpr Seconds kNever{-1};

/// Calls `visit(device, action, start, end)` for every compute action.
template <typename Visit>
void for_each_computation(const SimulationInput& input, const ActionTimes& times, Visit visit) {
  for (std::size_t d = 0; d < input.schedule.rows.size(); ++d) {
    const std::vector<Action>& row = input.schedule.rows[d];
    for (std::size_t step = 0; step < row.size(); ++step) {
      if (!is_compute(row[step].kind)) continue;
      const std::size_t place = times.row_begin[d] + step;
      visit(d, row[step], times.start[place], times.end[place]);
    }
  }
}

class Ending {
 public:
  Ending(const SimulationInput& input, const ActionTimes& times)
      : input_(input),
        ready_(input.stages.size(), kNever),
        first_start_(input.schedule.rows.size(), kNever),
        last_end_(input.schedule.rows.size(), Seconds{0}) {
    for_each_computation(input, times,
                         [&](std::size_t d, const Action& action, Seconds start, Seconds end) {
                           if (first_start_[d] < Seconds{0}) first_start_[d] = start;
                           last_end_[d] = std::max(last_end_[d], end);
                           if (action.kind == ActionKind::kForward) return;
                           Seconds& ready = ready_[index_of(action.stage)];
                           ready = std::max(ready, end);
                         });
    network_.assign(last_end_.size(), Seconds{0});
  }

  IterationEnd run() {
    if (!input_.schedule.flushes || !trains(input_.schedule)) return without_end();
    reduce_gradients();
    reduce_tied();
    update();
    return std::move(end_);
  }

 private:
  [[nodiscard]] std::size_t device_of(std::size_t stage) const {
    return index_of(input_.schedule.device_of_stage[stage]);
  }

  IterationEnd without_end() {
    for (std::size_t d = 0; d < last_end_.size(); ++d) {
      end_.iteration = std::max(end_.iteration, last_end_[d]);
      if (first_start_[d] < Seconds{0}) continue;
      end_.without_barrier = std::max(end_.without_barrier, last_end_[d] - first_start_[d]);
    }
    return std::move(end_);
  }

  void note(std::size_t device, ActionKind kind, std::size_t stage, Seconds start, Seconds end) {
    if (end <= start) return;
    end_.events.push_back({.device = DeviceId{static_cast<int>(device)},
                           .action = {.kind = kind, .stage = StageId{static_cast<int>(stage)}},
                           .start = start,
                           .end = end});
  }

  /// Every device's stages in the order in which their gradients are complete.
  void reduce_gradients() {
    std::vector<std::size_t> order(ready_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return ready_[s]; });
    for (const std::size_t s : order) {
      const Seconds time = input_.stages[s].reduce_gradient;
      if (ready_[s] < Seconds{0} || time <= Seconds{0}) continue;
      Seconds& network = network_[device_of(s)];
      const Seconds start = std::max(network, ready_[s]);
      network = ready_[s] = start + time;
      note(device_of(s), ActionKind::kReduceGrad, s, start, network);
    }
  }

  void reduce_tied() {
    for (const TiedReduction& tied : input_.tied) {
      Seconds start{0};
      for (const int stage : tied.stages) {
        const auto s = static_cast<std::size_t>(stage);
        start = std::max({start, ready_[s], network_[device_of(s)]});
      }
      for (const int stage : tied.stages) {
        const auto s = static_cast<std::size_t>(stage);
        network_[device_of(s)] = ready_[s] = start + tied.time;
        note(device_of(s), ActionKind::kReduceTied, s, start, start + tied.time);
      }
    }
  }

  void update() {
    std::vector<Seconds> ready(last_end_);
    for (std::size_t s = 0; s < ready_.size(); ++s) {
      ready[device_of(s)] = std::max(ready[device_of(s)], ready_[s]);
    }
    const Seconds barrier = *std::ranges::max_element(ready);
    end_.iteration = barrier + input_.optimizer;
    for (std::size_t d = 0; d < ready.size(); ++d) {
      if (first_start_[d] < Seconds{0}) continue;
      end_.without_barrier =
          std::max(end_.without_barrier, ready[d] + input_.optimizer - first_start_[d]);
    }
    for (std::size_t s = 0; s < ready_.size(); ++s) {
      const bool first_on_device =
          std::ranges::find(input_.schedule.device_of_stage, input_.schedule.device_of_stage[s]) ==
          input_.schedule.device_of_stage.begin() + static_cast<std::ptrdiff_t>(s);
      if (first_on_device) {
        note(device_of(s), ActionKind::kOptimizer, s, barrier, barrier + input_.optimizer);
      }
    }
  }

  const SimulationInput& input_;
  std::vector<Seconds> ready_;        ///< By stage: its gradients are complete; kNever without any.
  std::vector<Seconds> first_start_;  ///< By device; kNever where it does nothing.
  std::vector<Seconds> last_end_;     ///< By device: end of compute.
  std::vector<Seconds> network_;      ///< By device: end of its last reduction.
  IterationEnd end_;
};

}  // namespace

IterationEnd iteration_end(const SimulationInput& input, const ActionTimes& times) {
  return Ending(input, times).run();
}

Seconds steady_microbatch(const SimulationInput& input, const ActionTimes& times) {
  std::vector<Seconds> ends;
  Seconds last{0};
  for_each_computation(input, times, [&](std::size_t, const Action& action, Seconds, Seconds end) {
    last = std::max(last, end);
    if (number_of(action.stage) != 0) return;
    if (passes_gradient(action.kind)) ends.push_back(end);
  });
  // Whole rounds of P micro-batches: with hops the steady state repeats only after as many as are
  // in flight.
  const auto stages = static_cast<std::size_t>(input.schedule.stages);
  if (ends.size() > 2 * stages) {
    const std::size_t to = ends.size() - 1 - stages;
    const std::size_t rounds = std::max<std::size_t>(1, to / 2 / stages);
    const std::size_t from = to - rounds * stages;
    return (ends[to] - ends[from]) / static_cast<double>(to - from);
  }
  return last / static_cast<double>(input.schedule.microbatches);
}

}  // namespace headrace
