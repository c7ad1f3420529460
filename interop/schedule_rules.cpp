#include "interop/schedule_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "core/text.h"

namespace headrace {
namespace {

constexpr std::array kFrameworks = {
    std::pair{Framework::kMegatron, std::string_view("megatron")},
    std::pair{Framework::kTorch, std::string_view("torch")},
    std::pair{Framework::kDeepSpeed, std::string_view("deepspeed")},
    std::pair{Framework::kZeroBubble, std::string_view("zero-bubble")}};

/// What each can run, by our names.
std::vector<std::string_view> schedules_of(Framework framework) {
  switch (framework) {
    case Framework::kMegatron:
      return {"1f1b", "interleaved", "1f1b-overlap", "forward-only"};
    case Framework::kTorch:
      return {"gpipe",          "1f1b",  "eager-1f1b", "interleaved", "looped-bfs",
              "interleaved-zb", "zb-h1", "zbv",        "dualpipev",   "forward-only"};
    case Framework::kDeepSpeed:
      return {"1f1b", "forward-only"};
    case Framework::kZeroBubble:
      return {"1f1b",  "interleaved", "group-interleaved",
              "zb-h1", "zb-h2",       "zb-auto",
              "zbv",   "v-auto",      "v-half",
              "v-min", "v-1f1b",      "seq1f1b"};
  }
  return {};
}

Failure refuse(const ScheduleUse& use, std::string what, std::string fix, std::string why = {}) {
  return Failure({.code = ErrorCode::kInfeasible,
                  .what = fmt::format("{}: {}", use.schedule, what),
                  .where = "--micro-batches",
                  .fix = std::move(fix),
                  .why = std::move(why)});
}

/// "3 = 12/(2·2)", or with letters where the batch is unknown.
std::string microbatches_text(const ScheduleUse& use) {
  if (use.global_batch <= 0 || use.micro_batch_size <= 0 || use.data <= 0) {
    return fmt::format("{} = GBS/(MBS·DP)", use.microbatches);
  }
  return fmt::format("{} = GBS/(MBS·DP) = {}/({}·{})", use.microbatches, use.global_batch,
                     use.micro_batch_size, use.data);
}

/// "use --micro-batches 6", and the global batch that makes it where that is known.
std::string use_microbatches(const ScheduleUse& use, int count) {
  std::string text = fmt::format("use --micro-batches {}", count);
  if (use.micro_batch_size > 0 && use.data > 0) {
    text += fmt::format(" (a global batch of {})",
                        static_cast<std::int64_t>(count) * use.micro_batch_size * use.data);
  }
  return text;
}

Result<void> at_least(const ScheduleUse& use, int least, std::string_view rule) {
  if (use.microbatches >= least) return {};
  return refuse(
      use,
      fmt::format("need at least {} micro-batches; you have {}", least, microbatches_text(use)),
      use_microbatches(use, least), std::string(rule));
}

Result<void> stages_per_device(const ScheduleUse& use, int per_device) {
  if (use.stages == per_device * use.devices) return {};
  return Failure({.code = ErrorCode::kInfeasible,
                  .what = fmt::format("{}: needs exactly {} stage{} per device; you have {} on {}",
                                      use.schedule, per_device, per_device == 1 ? "" : "s",
                                      use.stages, use.devices),
                  .where = "--stages",
                  .fix = fmt::format("use --stages {}", per_device * use.devices)});
}

/// The nearest count above M that `accepts` takes.
template <typename Accepts>
int next_count(int microbatches, Accepts accepts) {
  int count = microbatches + 1;
  while (!accepts(count)) ++count;
  return count;
}

Result<void> check_megatron(const ScheduleUse& use) {
  const bool interleaves =
      use.schedule == "interleaved" || (use.schedule == "1f1b-overlap" && use.stages > use.devices);
  if (!interleaves) return stages_per_device(use, 1);
  if (use.stages < 2 * use.devices) {
    return Failure(
        {.code = ErrorCode::kInfeasible,
         .what = fmt::format("{}: needs two stages per device or more; you have {} on {}",
                             use.schedule, use.stages, use.devices),
         .where = "--stages",
         .fix = fmt::format("use --stages {}, or --schedule 1f1b", 2 * use.devices)});
  }
  const int p = use.devices;
  const int m = use.microbatches;
  const int n = use.group.value_or(p);
  const std::string rule = "Megatron-LM: P <= N <= M, and M mod N is 0 or at least P";
  if (auto ok = at_least(use, p, rule); !ok) return ok;
  const std::vector<int> groups = valid_groups(p, m);
  const auto with_groups = [&](const std::string& what) {
    return refuse(use, what,
                  groups.empty() ? use_microbatches(use, (m / p + 1) * p)
                                 : fmt::format("use --schedule interleaved:group=N with N = {}",
                                               fmt::join(groups, ", ")),
                  rule);
  };
  if (n < p) return with_groups(fmt::format("groups of N = {} are smaller than P = {}", n, p));
  if (n > m) {
    return with_groups(fmt::format("groups of N = {} are more than the {} micro-batches", n, m));
  }
  if (m % n != 0 && m % n < p) {
    return with_groups(fmt::format("{} mod {} = {} < {}", m, n, m % n, p));
  }
  return {};
}

/// max(1, M / P) rounds of equal size.
Result<void> check_rounds(const ScheduleUse& use) {
  const int p = use.devices;
  const int m = use.microbatches;
  const int rounds = std::max(1, m / p);
  if (m % rounds == 0) return {};
  const int next = next_count(m, [&](int count) { return count % std::max(1, count / p) == 0; });
  return refuse(
      use, fmt::format("{} micro-batches do not make {} equal rounds", m, rounds),
      use_microbatches(use, next),
      fmt::format("torch: rounds = max(1, M // P) = max(1, {} // {}) = {}, and M mod rounds "
                  "= {} must be 0",
                  m, p, rounds, m % rounds));
}

Result<void> check_torch(const ScheduleUse& use) {
  const std::string& name = use.schedule;
  if (name == "1f1b") {
    if (auto ok = stages_per_device(use, 1); !ok) return ok;
    return at_least(use, use.stages, "torch: Schedule1F1B needs as many micro-batches as stages");
  }
  if (name == "gpipe" || name == "forward-only") return stages_per_device(use, 1);
  if (name == "interleaved" || name == "interleaved-zb" || name == "zb-h1" ||
      name == "eager-1f1b") {
    return check_rounds(use);
  }
  if (name == "zbv") return stages_per_device(use, 2);
  if (name == "dualpipev") {
    if (auto ok = stages_per_device(use, 2); !ok) return ok;
    return at_least(use, 2 * use.devices, "torch: DualPipeV needs M >= 2 P");
  }
  return {};
}

Result<void> check_zero_bubble(const ScheduleUse& use) {
  if (use.schedule != "interleaved" || use.microbatches % use.devices == 0) return {};
  return refuse(
      use,
      fmt::format("{} mod {} = {}", use.microbatches, use.devices, use.microbatches % use.devices),
      use_microbatches(use, (use.microbatches / use.devices + 1) * use.devices),
      "zero-bubble: P must divide M");
}

}  // namespace

std::string_view name_of(Framework framework) {
  return std::ranges::find(kFrameworks, framework, [](const auto& pair) { return pair.first; })
      ->second;
}

std::optional<Framework> framework_from_name(std::string_view name) {
  for (const auto& [framework, known] : kFrameworks) {
    if (known == name) return framework;
  }
  return std::nullopt;
}

std::vector<int> valid_groups(int devices, int microbatches) {
  std::vector<int> groups;
  for (int n = devices; n <= microbatches; ++n) {
    if (microbatches % n == 0 || microbatches % n >= devices) groups.push_back(n);
  }
  return groups;
}

Result<void> check_schedule(Framework framework, const ScheduleUse& use) {
  const std::vector<std::string_view> known = schedules_of(framework);
  if (std::ranges::find(known, use.schedule) == known.end()) {
    return Failure({.code = ErrorCode::kInfeasible,
                    .what = fmt::format("{} has no schedule '{}'{}", name_of(framework),
                                        use.schedule, did_you_mean(use.schedule, known)),
                    .where = "--schedule",
                    .fix = fmt::format("use one of {}", fmt::join(known, ", "))});
  }
  switch (framework) {
    case Framework::kMegatron:
      return check_megatron(use);
    case Framework::kTorch:
      return check_torch(use);
    case Framework::kZeroBubble:
      return check_zero_bubble(use);
    case Framework::kDeepSpeed:
      return stages_per_device(use, 1);
  }
  return {};
}

}  // namespace headrace
