#include "executor/emulated_backend.h"

#include <utility>

#include "executor/precise_wait.h"

namespace headrace {
namespace {

class EmulatedBackend final : public StageBackend {
 public:
  explicit EmulatedBackend(EmulatedTimes times) : times_(std::move(times)) {}

  Result<std::optional<HeldMemory>> compute(const Action& action) override {
    wait_for(time_of(action));
    return std::optional<HeldMemory>{};
  }
  Result<std::span<std::byte>> buffer(const Action&) override { return std::span<std::byte>{}; }
  Result<void> hand_over(const Action&) override { return {}; }
  void release(const Action&) override {}
  Result<void> finish_iteration() override {
    if (times_.optimizer > Seconds{0}) wait_for(times_.optimizer);
    return {};
  }

 private:
  [[nodiscard]] Seconds time_of(const Action& action) const {
    const EmulatedStage& stage = times_.stages[index_of(action.stage)];
    switch (action.kind) {
      case ActionKind::kForward:
        return stage.forward;
      case ActionKind::kBackward:
        return stage.backward;
      case ActionKind::kInputGrad:
        return stage.input_grad;
      case ActionKind::kWeightGrad:
        return stage.weight_grad;
      default:
        return Seconds{0};
    }
  }

  void wait_for(Seconds time) {
    // Anything later than this is a wait for a message, not a late wake-up.
    constexpr auto kLateness = std::chrono::microseconds(200);
    const auto now = RunClock::now();
    const auto start = now - due_ < kLateness ? due_ : now;
    due_ = start + clock_duration(time.value());
    wait_until(due_, clock_duration(times_.spin.value()));
  }

  EmulatedTimes times_;
  RunClock::time_point due_{};  ///< When the latest action was to end.
};

}  // namespace

std::unique_ptr<StageBackend> make_emulated_backend(EmulatedTimes times) {
  return std::make_unique<EmulatedBackend>(std::move(times));
}

}  // namespace headrace
