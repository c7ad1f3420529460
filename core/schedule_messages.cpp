// Finds where every send, receive and compute action stands, then compares the steps.
#include "core/schedule_messages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace headrace {
namespace {

constexpr int kAbsent = -1;

Failure bad_step(int rank, int step, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = fmt::format("rank {} step {}", rank, step),
                  .fix = std::move(fix)});
}

/// Two actions of one device, one of which has to come first.
struct Pair {
  Action message;
  Action partner;
  bool message_first = false;
};

class MessageChecker {
 public:
  explicit MessageChecker(const Schedule& schedule)
      : schedule_(schedule),
        steps_(static_cast<std::size_t>(schedule.stages) *
                   static_cast<std::size_t>(schedule.microbatches),
               unseen()) {}

  Result<void> run() {
    for (std::size_t rank = 0; rank < schedule_.rows.size(); ++rank) {
      for (std::size_t step = 0; step < schedule_.rows[rank].size(); ++step) {
        if (auto ok = note(static_cast<int>(rank), static_cast<int>(step)); !ok) return ok;
      }
    }
    for (int stage = 0; stage + 1 < schedule_.stages; ++stage) {
      if (!needs_message(stage)) continue;
      const MicrobatchRange range = microbatches_of(schedule_, stage);
      for (int microbatch = range.first; microbatch < range.end; ++microbatch) {
        if (auto ok = check_border(stage, microbatch); !ok) return ok;
      }
    }
    return {};
  }

 private:
  /// Step of every kind of action of one (stage, micro-batch) in its row.
  using Steps = std::array<int, static_cast<std::size_t>(ActionKind::kUnshard)>;
  static Steps unseen() {
    Steps steps{};
    steps.fill(kAbsent);
    return steps;
  }

  int& step_of(const Action& action) {
    return steps_[index_of(action.stage) * static_cast<std::size_t>(schedule_.microbatches) +
                  index_of(action.microbatch)][static_cast<std::size_t>(action.kind)];
  }

  [[nodiscard]] int rank_of(StageId stage) const {
    return number_of(schedule_.device_of_stage[index_of(stage)]);
  }

  /// True when stages `stage` and `stage` + 1 of one replica stand on different devices.
  [[nodiscard]] bool needs_message(int stage) const {
    return !is_last_stage(schedule_, stage) &&
           rank_of(StageId{stage}) != rank_of(StageId{stage + 1});
  }

  /// The border that a message crosses, by the stage before it.
  static int border_of(const Action& action) {
    const bool upper =
        action.kind == ActionKind::kRecvForward || action.kind == ActionKind::kSendBackward;
    return number_of(action.stage) - (upper ? 1 : 0);
  }

  Result<void> note(int rank, int step) {
    const Action& action =
        schedule_.rows[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)];
    if (!is_compute(action.kind) && !is_message(action.kind)) return {};
    if (is_message(action.kind)) {
      const int border = border_of(action);
      if (border < 0 || border + 1 >= schedule_.stages || !needs_message(border)) {
        return bad_step(rank, step,
                        fmt::format("{} has no other device at its end", to_string(action)),
                        "remove it");
      }
      if (step_of(action) != kAbsent) {
        return bad_step(rank, step, fmt::format("{} runs twice", to_string(action)), "remove one");
      }
    }
    step_of(action) = step;
    return {};
  }

  Result<void> check_border(int stage, int microbatch) {
    const auto action = [&](ActionKind kind, int of_stage) {
      return Action{
          .kind = kind, .stage = StageId{of_stage}, .microbatch = MicrobatchId{microbatch}};
    };
    const auto gradient_maker = [&](int of_stage) {
      const Action split = action(ActionKind::kInputGrad, of_stage);
      return step_of(split) != kAbsent ? split : action(ActionKind::kBackward, of_stage);
    };
    std::vector<Pair> pairs = {
        {action(ActionKind::kSendForward, stage), action(ActionKind::kForward, stage), false},
        {action(ActionKind::kRecvForward, stage + 1), action(ActionKind::kForward, stage + 1),
         true}};
    if (step_of(gradient_maker(stage)) != kAbsent) {
      pairs.push_back(
          {action(ActionKind::kSendBackward, stage + 1), gradient_maker(stage + 1), false});
      pairs.push_back({action(ActionKind::kRecvBackward, stage), gradient_maker(stage), true});
    }
    for (const Pair& pair : pairs) {
      if (auto ok = check_pair(pair); !ok) return ok;
    }
    return {};
  }

  Result<void> check_pair(const Pair& pair) {
    const int message = step_of(pair.message);
    const int partner = step_of(pair.partner);
    const int rank = rank_of(pair.message.stage);
    const std::string name = to_string(pair.message);
    const std::string partner_name = to_string(pair.partner);
    if (message == kAbsent) {
      return bad_step(rank, partner, fmt::format("{} has no {}", partner_name, name),
                      fmt::format("add {}, or remove all SEND_ and RECV_ cells", name));
    }
    if (pair.message_first && message > partner) {
      return bad_step(rank, message, fmt::format("{} comes behind {}", name, partner_name),
                      fmt::format("move it before {}", partner_name));
    }
    if (!pair.message_first && message < partner) {
      return bad_step(rank, message, fmt::format("{} comes before {}", name, partner_name),
                      fmt::format("move it behind {}", partner_name));
    }
    return {};
  }

  const Schedule& schedule_;
  std::vector<Steps> steps_;
};

}  // namespace

Result<void> validate_messages(const Schedule& schedule) {
  if (!has_messages(schedule)) return {};
  return MessageChecker(schedule).run();
}

}  // namespace headrace
