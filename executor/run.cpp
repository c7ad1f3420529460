#include "executor/run.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "executor/device_steps.h"
#include "executor/emulated_backend.h"
#include "executor/host.h"
#include "executor/in_process_network.h"
#include "executor/precise_wait.h"
#include "executor/rank_threads.h"
#include "executor/runtime.h"

namespace headrace {
namespace {

Failure bad_plan(std::string where, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

Result<void> check_plan(const Plan& plan, const Schedule& schedule, const RunOptions& options) {
  if (auto ok = validate(schedule); !ok) return ok;
  if (static_cast<std::size_t>(schedule.stages) != plan.stages.size()) {
    return bad_plan(
        "plan: /stages",
        fmt::format("the plan has {} stages, the schedule {}", plan.stages.size(), schedule.stages),
        "use a schedule for as many stages as the plan has");
  }
  if (options.iterations < 1 || options.warmup < 0) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} iterations after {} of warm-up", options.iterations,
                                        options.warmup),
                    .where = "--iterations",
                    .fix = "measure at least one iteration"});
  }
  if (!splits_backward(schedule)) return {};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].input_grad && plan.stages[s].weight_grad) continue;
    return bad_plan(fmt::format("plan: /stages/{}", s),
                    "the schedule splits backward, but the plan has no input_grad_s and "
                    "weight_grad_s",
                    "profile with both, or choose a schedule with whole backwards");
  }
  return {};
}

/// Spinning must not take the cores from threads that are due: the more devices share a core, the
/// less each may spin.
Seconds spin_time(int devices) {
  constexpr Seconds kLongest{100e-6};
  const auto cores = static_cast<double>(allowed_cores().size());
  return std::min(kLongest, kLongest * (cores / devices));
}

EmulatedTimes emulated_times(const Plan& plan, int devices) {
  EmulatedTimes times{
      .stages = {}, .optimizer = plan.optimizer_step.mean, .spin = spin_time(devices)};
  for (const PlanStage& stage : plan.stages) {
    times.stages.push_back({.forward = stage.forward.mean,
                            .backward = stage.backward.mean,
                            .input_grad = stage.input_grad.value_or(Duration{}).mean,
                            .weight_grad = stage.weight_grad.value_or(Duration{}).mean});
  }
  return times;
}

/// The device of the plan's cluster that a stage stands on.
DeviceId cluster_device(const Plan& plan, std::size_t stage) {
  const std::vector<Device>& devices = plan.inputs.cluster.devices;
  const std::vector<std::string>& ids = plan.stages[stage].devices;
  const auto found =
      ids.empty() ? devices.end() : std::ranges::find(devices, ids.front(), &Device::id);
  // A plan without a cluster has its default link everywhere.
  if (found == devices.end()) return DeviceId{0};
  return DeviceId{static_cast<int>(found - devices.begin())};
}

/// Time of the message over the border behind every stage; the gradient back takes as long.
std::vector<Seconds> border_delays(const Plan& plan) {
  std::vector<Seconds> delays;
  for (std::size_t s = 0; s + 1 < plan.stages.size(); ++s) {
    const DeviceId from = cluster_device(plan, s);
    const DeviceId to = cluster_device(plan, s + 1);
    const LinkSpeed link =
        from == to ? plan.inputs.cluster.intra_node : plan.inputs.cluster.link_between(from, to);
    delays.push_back(transfer_time(link, plan.stages[s].output));
  }
  return delays;
}

MessageDelay delay_of_messages(std::vector<Seconds> border_delays, int microbatches) {
  return [delays = std::move(border_delays), microbatches](int, int, int tag) {
    if (tag < kFirstMessageTag) return Seconds{0};
    const Action receive = receive_of_tag(tag, microbatches);
    const int border = receive.kind == ActionKind::kRecvForward ? number_of(receive.stage) - 1
                                                                : number_of(receive.stage);
    return delays[static_cast<std::size_t>(border)];
  };
}

}  // namespace

Result<Timeline> run_emulated(const Plan& plan, const Schedule& schedule,
                              const RunOptions& options) {
  if (auto ok = check_plan(plan, schedule, options); !ok) return Failure(ok.error());
  const EmulatedTimes times = emulated_times(plan, schedule.devices);
  InProcessNetwork network(schedule.devices,
                           delay_of_messages(border_delays(plan), schedule.microbatches));
  const auto records = run_rank_threads(network, schedule.devices, [&](Channel& channel) {
    use_precise_timers();
    const auto backend = make_emulated_backend(times);
    return run_device(
        {.schedule = schedule, .backend = *backend, .channel = channel, .options = options});
  });
  if (!records) return Failure(records.error());
  return timeline_of(*records, schedule, TimelineSource::kEmulated);
}

}  // namespace headrace
