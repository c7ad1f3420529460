#include "simulator/memory_curve.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

namespace headrace {
namespace {

/// What changes in time; the rest of MemoryItems is fixed.
enum Item : std::uint8_t { kActivations, kDeferred, kRecompute, kMessages, kHost };
constexpr std::size_t kItems = 5;

struct Change {
  std::int32_t device;
  Item item;
  Seconds time;
  std::int64_t bytes;
};

/// Parameters, gradients, optimizer state and buffers of all stages of a device add up; only one
/// layer runs at a time, so workspace and the runtime's reserve are the largest of them.
std::vector<MemoryItems> fixed_items(const SimulationInput& input) {
  const Schedule& schedule = input.schedule;
  std::vector<MemoryItems> items(static_cast<std::size_t>(schedule.devices));
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    const MemoryItems& stage = input.stages[s].fixed;
    MemoryItems& device = items[index_of(schedule.device_of_stage[s])];
    device.parameters += stage.parameters;
    device.gradients += stage.gradients;
    device.optimizer += stage.optimizer;
    device.communication += stage.communication;
    device.workspace = std::max(device.workspace, stage.workspace);
    device.margin = std::max(device.margin, stage.margin);
    if (schedule.weight_versions.empty()) continue;
    device.weight_versions += stage.parameters * (schedule.weight_versions[s] - 1);
  }
  return items;
}

/// When every (stage, micro-batch) started and ended each kind of computation.
class Spans {
 public:
  Spans(const Timeline& timeline, const Schedule& schedule)
      : schedule_(schedule),
        spans_(kKinds * static_cast<std::size_t>(schedule.stages) *
               static_cast<std::size_t>(schedule.microbatches)) {
    for (const TimelineEvent& event : timeline.events) {
      if (kind_index(event.action.kind) < kKinds) at(event.action) = {event.start, event.end, true};
    }
  }

  struct Span {
    Seconds start{0};
    Seconds end{0};
    bool known = false;
  };
  Span& at(const Action& action) {
    const std::size_t pair =
        index_of(action.stage) * static_cast<std::size_t>(schedule_.microbatches) +
        index_of(action.microbatch);
    return spans_[kKinds * pair + kind_index(action.kind)];
  }
  Span& at(ActionKind kind, int stage, MicrobatchId microbatch) {
    return at({.kind = kind, .stage = StageId{stage}, .microbatch = microbatch});
  }

 private:
  static constexpr std::size_t kKinds = kComputeKinds + 2;
  static std::size_t kind_index(ActionKind kind) {
    if (is_copy(kind)) return kComputeKinds + (kind == ActionKind::kReload ? 1 : 0);
    return is_compute(kind) ? static_cast<std::size_t>(kind) : kKinds;
  }

  const Schedule& schedule_;
  std::vector<Span> spans_;
};

class Bookkeeper {
 public:
  Bookkeeper(const Timeline& timeline, const SimulationInput& input)
      : input_(input), schedule_(input.schedule), spans_(timeline, input.schedule) {
    for (const TimelineEvent& event : timeline.events) book(event);
    std::ranges::sort(changes_, {}, [](const Change& change) {
      // At one moment, what is given back comes before what is taken.
      return std::tuple(change.device, change.time, change.bytes > 0, change.item, change.bytes);
    });
  }

  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

 private:
  void change(int stage, Item item, Seconds time, std::int64_t bytes) {
    if (bytes == 0) return;
    const DeviceId device = schedule_.device_of_stage[static_cast<std::size_t>(stage)];
    changes_.push_back({.device = number_of(device), .item = item, .time = time, .bytes = bytes});
  }
  void hold(int stage, Item item, Seconds from, Seconds to, std::int64_t bytes) {
    if (to <= from) return;
    change(stage, item, from, bytes);
    change(stage, item, to, -bytes);
  }

  void book(const TimelineEvent& event) {
    const int stage = number_of(event.action.stage);
    const MicrobatchId microbatch = event.action.microbatch;
    const StageCost& cost = input_.stages[index_of(event.action.stage)];
    if (event.action.kind == ActionKind::kForward) {
      book_activations(event, cost);
      if (!is_last_stage(schedule_, stage)) {
        book_message(event.end, stage, stage + 1,
                     spans_.at(ActionKind::kForward, stage + 1, microbatch), cost.output);
      }
    } else if (passes_gradient(event.action.kind) && !is_first_stage(schedule_, stage)) {
      const auto& whole = spans_.at(ActionKind::kBackward, stage - 1, microbatch);
      const auto& split = spans_.at(ActionKind::kInputGrad, stage - 1, microbatch);
      const Bytes size = input_.stages[static_cast<std::size_t>(stage - 1)].output;
      book_message(event.end, stage, stage - 1, whole.known ? whole : split, size);
    }
  }

  void book_activations(const TimelineEvent& forward, const StageCost& cost) {
    const int stage = number_of(forward.action.stage);
    const auto span = [&](ActionKind kind) {
      return spans_.at(kind, stage, forward.action.microbatch);
    };
    const std::int64_t saved = cost.saved_activation.value();
    const auto again = span(ActionKind::kRecompute);
    const auto whole = span(ActionKind::kBackward);
    const auto input_grad = span(ActionKind::kInputGrad);
    const auto weight_grad = span(ActionKind::kWeightGrad);
    const std::int64_t kept = again.known ? cost.kept_input.value() : saved;
    if (!whole.known && !input_grad.known) {  // Inference: nothing outlives the forward.
      hold(stage, kActivations, forward.start, forward.end, saved);
      return;
    }
    const Seconds until = whole.known ? whole.end : input_grad.end;
    const auto offload = span(ActionKind::kOffload);
    const auto reload = span(ActionKind::kReload);
    if (reload.known && reload.start > offload.end) {
      hold(stage, kActivations, forward.start, offload.end, kept);
      hold(stage, kActivations, reload.start, until, kept);
    } else {
      hold(stage, kActivations, forward.start, until, kept);
    }
    if (reload.known) hold(stage, kHost, offload.start, reload.end, kept);
    if (again.known) hold(stage, kRecompute, again.start, until, saved - kept);
    if (!input_grad.known) return;
    hold(stage, kDeferred, input_grad.end, weight_grad.end, saved);
    hold(stage, kDeferred, input_grad.start, weight_grad.end, cost.stashed_gradient.value());
  }

  void book_message(Seconds made, int from, int to, const Spans::Span& needed, Bytes size) {
    const auto device = [&](int stage) {
      return schedule_.device_of_stage[static_cast<std::size_t>(stage)];
    };
    if (!needed.known || device(from) == device(to)) return;
    const Seconds hop = to > from ? input_.hop_forward[static_cast<std::size_t>(from)]
                                  : input_.hop_backward[static_cast<std::size_t>(to)];
    hold(from, kMessages, made, std::min(made + hop, needed.start), size.value());
    hold(to, kMessages, made, needed.start, size.value());
  }

  const SimulationInput& input_;
  const Schedule& schedule_;
  Spans spans_;
  std::vector<Change> changes_;
};

/// What one device holds at the moment.
MemoryItems items_now(const MemoryItems& fixed, const std::array<std::int64_t, kItems>& held) {
  MemoryItems items = fixed;
  items.activations = Bytes(held[kActivations]);
  items.deferred_weight_grad = Bytes(held[kDeferred]);
  items.recompute = Bytes(held[kRecompute]);
  items.communication = std::max(fixed.communication, Bytes(held[kMessages]));
  return items;
}

/// Peaks in units follow the order of the actions, whatever they take.
void count_units(const Timeline& timeline, const SimulationInput& input, MemoryUse& use) {
  std::vector<double> now(use.peak_activations.size());
  for (const TimelineEvent& event : timeline.events) {
    const ActionKind kind = event.action.kind;
    const std::size_t d = index_of(event.device);
    const double unit = input.stages[index_of(event.action.stage)].activation;
    if (kind == ActionKind::kForward) {
      now[d] += unit;
      use.peak_activations[d] = std::max(use.peak_activations[d], now[d]);
    } else if (kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad) {
      now[d] -= unit;
    }
  }
}

}  // namespace

MemoryUse memory_use(const Timeline& timeline, const SimulationInput& input) {
  MemoryUse use{.peak_activations = std::vector<double>(static_cast<std::size_t>(timeline.devices)),
                .peak_items = fixed_items(input),
                .peak_host = std::vector<Bytes>(static_cast<std::size_t>(timeline.devices))};
  count_units(timeline, input, use);
  const std::vector<MemoryItems> fixed = use.peak_items;
  std::array<std::int64_t, kItems> held{};
  std::int32_t device = -1;
  const Bookkeeper bookkeeper(timeline, input);
  for (const Change& change : bookkeeper.changes()) {
    if (std::exchange(device, change.device) != change.device) held.fill(0);
    held[change.item] += change.bytes;
    const auto d = static_cast<std::size_t>(device);
    use.peak_host[d] = std::max(use.peak_host[d], Bytes(held[kHost]));
    if (change.item == kHost) continue;
    const MemoryItems items = items_now(fixed[d], held);
    if (items.total() > use.peak_items[d].total()) use.peak_items[d] = items;
    use.curve.push_back({.device = DeviceId{device}, .time = change.time, .bytes = items.total()});
  }
  return use;
}

}  // namespace headrace
