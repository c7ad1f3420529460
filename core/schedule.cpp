#include "core/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/core.h>

namespace headrace {
namespace {

constexpr std::array kKindNames = {
    std::string_view("F"),        std::string_view("B"),           std::string_view("I"),
    std::string_view("W"),        std::string_view("R"),           std::string_view("SEND_F"),
    std::string_view("RECV_F"),   std::string_view("SEND_B"),      std::string_view("RECV_B"),
    std::string_view("OFFLOAD"),  std::string_view("RELOAD"),      std::string_view("UNSHARD"),
    std::string_view("RESHARD"),  std::string_view("REDUCE_GRAD"), std::string_view("REDUCE_TIED"),
    std::string_view("OPTIMIZER")};

/// Takes leading digits off `text`; nothing when there are none or they overflow an int.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

Failure bad_step(std::size_t rank, std::size_t step, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = fmt::format("rank {} step {}", rank, step),
                  .fix = std::move(fix)});
}

/// What one (stage, micro-batch) has done so far.
struct Progress {
  bool forward = false;
  bool backward = false;
  bool input_grad = false;
  bool weight_grad = false;
  bool recompute = false;
  bool offload = false;
  bool reload = false;
  [[nodiscard]] bool any_backward() const { return backward || input_grad || weight_grad; }
};

/// Follows the rows and remembers what every (stage, micro-batch) did.
class Checker {
 public:
  explicit Checker(const Schedule& schedule)
      : schedule_(schedule),
        done_(static_cast<std::size_t>(schedule.stages) *
              static_cast<std::size_t>(schedule.microbatches)) {}

  Result<void> run() {
    for (std::size_t rank = 0; rank < schedule_.rows.size(); ++rank) {
      for (std::size_t step = 0; step < schedule_.rows[rank].size(); ++step) {
        if (auto ok = take(rank, step); !ok) return ok;
      }
    }
    return nothing_missing();
  }

 private:
  Progress& progress(const Action& action) {
    return done_[index_of(action.stage) * static_cast<std::size_t>(schedule_.microbatches) +
                 index_of(action.microbatch)];
  }

  Result<void> in_range(std::size_t rank, std::size_t step, const Action& action) {
    const std::string name = to_string(action);
    if (number_of(action.stage) < 0 || number_of(action.stage) >= schedule_.stages) {
      return bad_step(
          rank, step,
          fmt::format("{} names a stage that does not exist (S = {})", name, schedule_.stages),
          "use stages 0 to S - 1");
    }
    if (has_microbatch(action.kind) && (number_of(action.microbatch) < 0 ||
                                        number_of(action.microbatch) >= schedule_.microbatches)) {
      return bad_step(rank, step,
                      fmt::format("{} names a micro-batch that does not exist (M = {})", name,
                                  schedule_.microbatches),
                      "use micro-batches 0 to M - 1");
    }
    const MicrobatchRange range = microbatches_of(schedule_, number_of(action.stage));
    if (has_microbatch(action.kind) && !range.contains(number_of(action.microbatch))) {
      return bad_step(rank, step,
                      fmt::format("{}: the replica of stage {} runs micro-batches {} to {}", name,
                                  number_of(action.stage), range.first, range.end - 1),
                      "give every replica its own micro-batches");
    }
    if (index_of(schedule_.device_of_stage[index_of(action.stage)]) != rank) {
      return bad_step(rank, step,
                      fmt::format("{}: stage {} is on two ranks, also on rank {}", name,
                                  number_of(action.stage),
                                  number_of(schedule_.device_of_stage[index_of(action.stage)])),
                      "keep every stage in one row");
    }
    return {};
  }

  Result<void> take(std::size_t rank, std::size_t step) {
    const Action& action = schedule_.rows[rank][step];
    if (auto ok = in_range(rank, step, action); !ok) return ok;
    if (!is_compute(action.kind) && !is_copy(action.kind)) return {};
    Progress& now = progress(action);
    const auto fail = [&](std::string_view problem, std::string_view fix) {
      return bad_step(rank, step, fmt::format("{} {}", to_string(action), problem),
                      std::string(fix));
    };
    if (action.kind != ActionKind::kForward && !now.forward) {
      return fail("comes before its forward", "move it behind the F of its micro-batch");
    }
    if (needs_activations(action.kind) && now.offload && !now.reload) {
      return fail("needs activations that OFFLOAD took away", "put their RELOAD before it");
    }
    switch (action.kind) {
      case ActionKind::kForward:
        if (std::exchange(now.forward, true)) return fail("runs twice", "remove one");
        break;
      case ActionKind::kBackward:
        if (now.any_backward()) return fail("follows a backward of its micro-batch", "remove one");
        now.backward = true;
        break;
      case ActionKind::kInputGrad:
        if (now.any_backward()) return fail("follows a backward of its micro-batch", "remove one");
        now.input_grad = true;
        break;
      case ActionKind::kRecompute:
        if (now.any_backward()) return fail("follows a backward of its micro-batch", "remove it");
        if (std::exchange(now.recompute, true)) return fail("runs twice", "remove one");
        break;
      case ActionKind::kOffload:
        if (now.any_backward() || now.recompute) {
          return fail("follows what needs the activations", "move it behind its F, or remove it");
        }
        if (std::exchange(now.offload, true)) return fail("runs twice", "remove one");
        break;
      case ActionKind::kReload:
        if (!now.offload) return fail("comes before its OFFLOAD", "move it behind its OFFLOAD");
        if (std::exchange(now.reload, true)) return fail("runs twice", "remove one");
        break;
      default:
        if (now.backward || now.weight_grad) {
          return fail("follows a backward of its micro-batch", "remove one");
        }
        if (!now.input_grad) return fail("comes before its I", "move it behind its I");
        now.weight_grad = true;
    }
    return {};
  }

  Result<void> nothing_missing() {
    const bool trains = std::ranges::any_of(done_, &Progress::any_backward);
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      const MicrobatchRange range = microbatches_of(schedule_, stage);
      for (int microbatch = range.first; microbatch < range.end; ++microbatch) {
        const Progress& now =
            progress({.stage = StageId{stage}, .microbatch = MicrobatchId{microbatch}});
        const auto missing = [&](std::string what) {
          const DeviceId device = schedule_.device_of_stage[static_cast<std::size_t>(stage)];
          return Failure({.code = ErrorCode::kBadInput,
                          .what = std::move(what) + " is missing",
                          .where = fmt::format("rank {}", number_of(device)),
                          .fix = "every stage runs every micro-batch exactly once"});
        };
        const auto name = [&](ActionKind kind) {
          return fmt::format("{}{}{}", stage, name_of(kind), microbatch);
        };
        if (!now.forward) return missing(name(ActionKind::kForward));
        if (!trains || now.backward) continue;
        if (!now.input_grad) {
          return missing(fmt::format("{} (or {} and {})", name(ActionKind::kBackward),
                                     name(ActionKind::kInputGrad), name(ActionKind::kWeightGrad)));
        }
        if (!now.weight_grad) return missing(name(ActionKind::kWeightGrad));
      }
    }
    return {};
  }

  const Schedule& schedule_;
  std::vector<Progress> done_;
};

Result<void> check_shape(const Schedule& schedule) {
  const auto fail = [](std::string what, std::string fix) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = std::move(what),
                    .where = "schedule",
                    .fix = std::move(fix)});
  };
  if (schedule.stages < 1 || schedule.devices < 1 || schedule.microbatches < 1) {
    return fail(fmt::format("{} stages, {} devices, {} micro-batches", schedule.stages,
                            schedule.devices, schedule.microbatches),
                "use at least one of each");
  }
  if (schedule.rows.size() != static_cast<std::size_t>(schedule.devices) ||
      schedule.device_of_stage.size() != static_cast<std::size_t>(schedule.stages)) {
    return fail("rows or the stage placement do not match the counts", "give one row per device");
  }
  if (schedule.pipelines < 1 || schedule.stages % schedule.pipelines != 0) {
    return fail(fmt::format("{} stages in {} pipelines", schedule.stages, schedule.pipelines),
                "give every pipeline the same number of stages");
  }
  for (int stage = 0; stage < schedule.stages; ++stage) {
    const int device = number_of(schedule.device_of_stage[static_cast<std::size_t>(stage)]);
    if (device >= 0 && device < schedule.devices) continue;
    return fail(
        fmt::format("stage {} is on device {}, there are {}", stage, device, schedule.devices),
        "use devices 0 to P - 1");
  }
  for (std::size_t rank = 0; rank < schedule.rows.size(); ++rank) {
    const std::vector<Action>& row = schedule.rows[rank];
    for (std::size_t step = 0; step < row.size(); ++step) {
      if (!row[step].overlaps_next) continue;
      if (step + 1 == row.size() || row[step + 1].overlaps_next || !is_compute(row[step].kind) ||
          !is_compute(row[step + 1].kind)) {
        return bad_step(rank, step, "an overlap needs exactly two compute actions",
                        "write (0F1;3B0)OVERLAP_F_B");
      }
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(ActionKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::string to_string(const Action& action) {
  if (!has_microbatch(action.kind)) {
    return fmt::format("{}{}", number_of(action.stage), name_of(action.kind));
  }
  return fmt::format("{}{}{}", number_of(action.stage), name_of(action.kind),
                     number_of(action.microbatch));
}

std::optional<Action> action_from_text(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto stage = take_number(text);
  if (!stage) return std::nullopt;
  const std::size_t letters = text.find_first_of("0123456789");
  const std::string_view kind_name = text.substr(0, letters);
  const auto* const found = std::ranges::find(kKindNames, kind_name);
  if (found == kKindNames.end()) return std::nullopt;
  Action action{.kind = static_cast<ActionKind>(found - kKindNames.begin()),
                .stage = StageId{*stage}};
  text.remove_prefix(kind_name.size());
  if (!has_microbatch(action.kind)) {
    if (!text.empty()) return std::nullopt;
    return action;
  }
  if (text.empty()) return std::nullopt;
  const auto microbatch = take_number(text);
  if (!microbatch || !text.empty()) return std::nullopt;
  action.microbatch = MicrobatchId{*microbatch};
  return action;
}

bool has_communication(const Schedule& schedule) {
  return std::ranges::any_of(schedule.rows, [](const std::vector<Action>& row) {
    return std::ranges::any_of(row, [](const Action& a) { return !is_compute(a.kind); });
  });
}

ScheduleTraits traits_of(const Schedule& schedule) {
  std::uint32_t kinds = 0;
  for (const std::vector<Action>& row : schedule.rows) {
    for (const Action& action : row) kinds |= 1U << static_cast<std::uint32_t>(action.kind);
  }
  const auto has = [&](ActionKind kind) {
    return (kinds >> static_cast<std::uint32_t>(kind) & 1U) != 0;
  };
  return {.messages = has(ActionKind::kSendForward) || has(ActionKind::kRecvForward) ||
                      has(ActionKind::kSendBackward) || has(ActionKind::kRecvBackward),
          .split_backward = has(ActionKind::kInputGrad),
          .copies = has(ActionKind::kOffload)};
}

bool has_messages(const Schedule& schedule) {
  return std::ranges::any_of(schedule.rows, [](const std::vector<Action>& row) {
    return std::ranges::any_of(row, [](const Action& a) { return is_message(a.kind); });
  });
}

bool trains(const Schedule& schedule) {
  return std::ranges::any_of(schedule.rows, [](const std::vector<Action>& row) {
    return std::ranges::any_of(row, [](const Action& action) {
      return action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
    });
  });
}

MicrobatchRange microbatches_of(const Schedule& schedule, int stage) {
  const auto replica = static_cast<std::int64_t>(stage / (schedule.stages / schedule.pipelines));
  const auto from = [&](std::int64_t k) {
    return static_cast<int>(k * schedule.microbatches / schedule.pipelines);
  };
  return {.first = from(replica), .end = from(replica + 1)};
}

bool splits_backward(const Schedule& schedule) {
  return std::ranges::any_of(schedule.rows, [](const std::vector<Action>& row) {
    return std::ranges::any_of(row,
                               [](const Action& a) { return a.kind == ActionKind::kInputGrad; });
  });
}

Result<void> validate(const Schedule& schedule) {
  if (auto ok = check_shape(schedule); !ok) return ok;
  return Checker(schedule).run();
}

std::vector<int> peak_in_flight(const Schedule& schedule) {
  std::vector<int> now(static_cast<std::size_t>(schedule.stages));
  std::vector<int> peak(now);
  for (const std::vector<Action>& row : schedule.rows) {
    for (const Action& action : row) {
      const std::size_t stage = index_of(action.stage);
      if (action.kind == ActionKind::kForward) peak[stage] = std::max(peak[stage], ++now[stage]);
      if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad) {
        --now[stage];
      }
    }
  }
  return peak;
}

namespace {

bool covers(const std::vector<int>& more, const std::vector<int>& less) {
  return std::ranges::equal(more, less, std::greater_equal<>());
}

/// Adds a combination unless another one covers it; drops those that it covers.
void keep_largest(std::vector<std::vector<int>>& kept, const std::vector<int>& held) {
  if (std::ranges::any_of(kept, [&](const auto& other) { return covers(other, held); })) return;
  std::erase_if(kept, [&](const auto& other) { return covers(held, other); });
  kept.push_back(held);
}

}  // namespace

std::vector<std::vector<std::vector<int>>> largest_holdings(const Schedule& schedule) {
  std::vector<std::size_t> place(schedule.device_of_stage.size());  // Among its device's stages.
  std::vector<std::size_t> stages(schedule.rows.size());
  for (std::size_t s = 0; s < place.size(); ++s) {
    place[s] = stages[index_of(schedule.device_of_stage[s])]++;
  }
  std::vector<std::vector<std::vector<int>>> holdings(schedule.rows.size());
  for (std::size_t d = 0; d < schedule.rows.size(); ++d) {
    std::vector<int> held(stages[d]);
    bool grew = false;
    for (const Action& action : schedule.rows[d]) {
      int& count = held[place[index_of(action.stage)]];
      if (action.kind == ActionKind::kForward) {
        ++count;
        grew = true;
      } else if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad) {
        if (std::exchange(grew, false)) keep_largest(holdings[d], held);
        --count;
      }
    }
    if (grew) keep_largest(holdings[d], held);
    std::ranges::sort(holdings[d]);
  }
  return holdings;
}

}  // namespace headrace
