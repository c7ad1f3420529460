#include "tools/headrace/stage_times.h"

#include <cstddef>
#include <utility>

#include <fmt/core.h>

#include "core/text.h"
#include "simulator/schedule_catalogue.h"

namespace headrace::cli {
namespace {

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

Result<void> split_backward(StageCost& stage, Seconds weight_grad, std::size_t number) {
  if (weight_grad > stage.backward) {
    return usage(fmt::format("stage {}: the weight gradient's {} is more than the whole "
                             "backward's {}",
                             number, to_text(weight_grad), to_text(stage.backward)),
                 "--weight-grad", "give --backward as the whole, I + W");
  }
  stage.weight_grad = weight_grad;
  stage.input_grad = stage.backward - weight_grad;
  return {};
}

/// By default a device's whole set of stages holds one unit per micro-batch. Sizes in bytes say
/// nothing about units; units given by hand are taken as they are.
Result<void> fill_activations(std::vector<StageCost>& stages, const StageTimes& times,
                              double default_share) {
  for (StageCost& stage : stages) stage.activation = default_share;
  if (!times.activation) return {};
  const auto count = static_cast<int>(stages.size());
  if (const auto* sizes = std::get_if<std::vector<Bytes>>(&*times.activation)) {
    const auto each = per_stage(*sizes, count, "--activation");
    if (!each) return Failure(each.error());
    for (std::size_t s = 0; s < stages.size(); ++s) stages[s].saved_activation = (*each)[s];
    return {};
  }
  const auto each =
      per_stage(std::get<std::vector<double>>(*times.activation), count, "--activation");
  if (!each) return Failure(each.error());
  for (std::size_t s = 0; s < stages.size(); ++s) stages[s].activation = (*each)[s];
  return {};
}

/// One list of times for all stages, or zeros where `times` is empty.
Result<std::vector<Seconds>> times_per_stage(const std::vector<Seconds>& times, int stages,
                                             std::string_view flag) {
  if (times.empty()) return std::vector<Seconds>(static_cast<std::size_t>(stages));
  return per_stage(times, stages, flag);
}

Result<void> fill_details(std::vector<StageCost>& stages, const StageTimes& times) {
  const auto count = static_cast<int>(stages.size());
  const auto fill = [&](const auto& list, std::string_view flag, auto store) -> Result<void> {
    if (list.empty()) return {};
    const auto each = per_stage(list, count, flag);
    if (!each) return Failure(each.error());
    for (std::size_t s = 0; s < stages.size(); ++s) store(stages[s], (*each)[s]);
    return {};
  };
  auto ok = fill(times.state, "--state", [](StageCost& stage, Bytes size) {
    stage.fixed.parameters = size;  // Not told apart; the report shows one item.
  });
  if (!ok) return ok;
  ok = fill(times.message, "--message", [](StageCost& stage, Bytes size) { stage.output = size; });
  if (!ok) return ok;
  return fill(times.reduce_gradient, "--gradient-reduce",
              [](StageCost& stage, Seconds time) { stage.reduce_gradient = time; });
}

Result<std::vector<StageCost>> stage_costs(const StageTimes& times, const ScheduleChoice& choice,
                                           const Schedule& schedule) {
  const int model_stages = schedule.stages / schedule.pipelines;
  const auto forward = times_per_stage(times.forward, model_stages, "--forward");
  if (!forward) return Failure(forward.error());
  const auto backward = times_per_stage(times.backward, model_stages, "--backward");
  if (!backward) return Failure(backward.error());
  const auto weight_grad = times_per_stage(times.weight_grad, model_stages, "--weight-grad");
  if (!weight_grad) return Failure(weight_grad.error());

  std::vector<StageCost> stages;
  for (std::size_t s = 0; s < forward->size(); ++s) {
    stages.push_back({.forward = (*forward)[s], .backward = (*backward)[s]});
    if (times.weight_grad.empty() && !choice.weight_grad_share) continue;
    const Seconds weight =
        times.weight_grad.empty() ? (*backward)[s] * *choice.weight_grad_share : (*weight_grad)[s];
    if (auto ok = split_backward(stages.back(), weight, s); !ok) return Failure(ok.error());
  }
  if (auto ok = fill_details(stages, times); !ok) return Failure(ok.error());
  const double share = static_cast<double>(schedule.devices) / model_stages;
  if (auto ok = fill_activations(stages, times, share); !ok) {
    return Failure(ok.error());
  }
  const std::vector<StageCost> replica = stages;
  for (int k = 1; k < schedule.pipelines; ++k) {
    stages.insert(stages.end(), replica.begin(), replica.end());
  }
  return stages;
}

Result<void> check_complete(const StageTimes& times, const ScheduleChoice& choice,
                            const Schedule& schedule) {
  if (times.forward.empty())
    return usage("the times are missing", "--forward", "add --forward 1ms");
  if (times.backward.empty() && trains(schedule)) {
    return usage("the times are missing", "--backward", "add --backward 2ms, the whole backward");
  }
  if (!times.weight_grad.empty() && choice.weight_grad_share) {
    return usage("times and a share are given", "--weight-grad-share", "drop it or --weight-grad");
  }
  if (splits_backward(schedule) && times.weight_grad.empty() && !choice.weight_grad_share) {
    return usage("the schedule splits backward into I and W", "--weight-grad",
                 "add --weight-grad 1ms or --weight-grad-share 50%");
  }
  return {};
}

std::vector<Seconds> hops_of(const StageTimes& times, std::size_t stages) {
  std::vector<Seconds> hops(stages, times.hop.value_or(Seconds{0}));
  hops.back() = Seconds{0};
  return hops;
}

Result<Schedule> schedule_from_flags(const StageTimes& times, const ScheduleChoice& choice) {
  if (!choice.csv_file.empty()) {
    if (times.virtual_stages) {
      return usage("the CSV file places the stages", "--virtual", "leave it out");
    }
    return schedule_from_file(choice, times.stages);
  }
  if (!times.stages) {
    return usage("neither a plan nor a number of stages is given", "--stages",
                 "give PLAN, or --stages 4 --micro-batches 8 --forward 1ms --backward 2ms");
  }
  if (!choice.microbatches) {
    return usage("the number of micro-batches is missing", "--micro-batches",
                 "add --micro-batches 8");
  }
  const std::string text = choice.schedule.empty() ? "1f1b" : choice.schedule;
  const auto request = schedule_request_from_text(text);
  if (!request) return Failure(request.error());
  const int per_device = times.virtual_stages.value_or(default_virtual_stages(request->name));
  if (*times.stages % per_device != 0) {
    return usage(fmt::format("{} stages do not divide by {} per device: {} would be left over",
                             *times.stages, per_device, *times.stages % per_device),
                 "--virtual",
                 fmt::format("use --stages {}", (*times.stages / per_device + 1) * per_device));
  }
  return generated_schedule(text, {.stages = *times.stages, .devices = *times.stages / per_device},
                            *choice.microbatches,
                            [&](const Schedule& placed) -> Result<ScheduleCosts> {
                              if (auto ok = check_complete(times, choice, placed); !ok)
                                return Failure(ok.error());
                              auto stages = stage_costs(times, choice, placed);
                              if (!stages) return Failure(stages.error());
                              const auto hops = hops_of(times, stages->size());
                              return schedule_costs({.schedule = placed,
                                                     .stages = *std::move(stages),
                                                     .hop_forward = hops,
                                                     .hop_backward = hops});
                            });
}

}  // namespace

void add_stage_flags(Flags& flags, StageTimes& times) {
  flags.add("--stages", "S", count_into(times.stages), "without PLAN: all stages, whose times are");
  flags.add("--forward", "LIST", times_into(times.forward),
            "one for all or one per stage: 2ms, or 1,2,3ms");
  flags.add("--backward", "LIST", times_into(times.backward), "the whole backward, I + W");
  flags.add("--weight-grad", "LIST", times_into(times.weight_grad), "the part of it that is W");
  flags.add("--hop", "TIME", time_into(times.hop), "of a message between two devices (default 0)");
  flags.add("--virtual", "V", count_into(times.virtual_stages), "stages per device");
  flags.add("--activation", "LIST", activations_into(times.activation),
            "kept per micro-batch: units (default 1) or bytes, 4GB");
}

void add_stage_detail_flags(Flags& flags, StageTimes& times) {
  flags.begin_subject("without PLAN: memory and the end of an iteration");
  flags.add("--state", "LIST", sizes_into(times.state),
            "weights, gradients and optimizer state of each stage: 4GB");
  flags.add("--message", "LIST", sizes_into(times.message),
            "output of each stage, held while it travels: 32MB");
  flags.add("--memory", "SIZE", bytes_into(times.memory), "of each device: 80GiB");
  flags.add("--gradient-reduce", "LIST", times_into(times.reduce_gradient),
            "all-reduce of each stage's gradients over its data replicas: 5ms");
  flags.add("--tied-reduce", "TIME", time_into(times.reduce_tied),
            "all-reduce of weights that the first and last stage share");
  flags.add("--optimizer-step", "TIME", time_into(times.optimizer_step),
            "update of the weights, once an iteration");
}

std::optional<std::string> given_stage_flag(const StageTimes& times) {
  if (times.stages) return "--stages";
  if (!times.forward.empty()) return "--forward";
  if (!times.backward.empty()) return "--backward";
  if (!times.weight_grad.empty()) return "--weight-grad";
  if (times.hop) return "--hop";
  if (times.virtual_stages) return "--virtual";
  if (times.activation) return "--activation";
  if (!times.state.empty()) return "--state";
  if (!times.message.empty()) return "--message";
  if (times.memory) return "--memory";
  if (!times.reduce_gradient.empty()) return "--gradient-reduce";
  if (times.reduce_tied) return "--tied-reduce";
  if (times.optimizer_step) return "--optimizer-step";
  return std::nullopt;
}

Result<SimulationInput> input_from_flags(const StageTimes& times, const ScheduleChoice& choice) {
  auto schedule = schedule_from_flags(times, choice);
  if (!schedule) return Failure(schedule.error());
  if (auto ok = check_complete(times, choice, *schedule); !ok) return Failure(ok.error());
  auto stages = stage_costs(times, choice, *schedule);
  if (!stages) return Failure(stages.error());
  const std::vector<Seconds> hops = hops_of(times, stages->size());
  SimulationInput input{.schedule = *std::move(schedule),
                        .stages = *std::move(stages),
                        .hop_forward = hops,
                        .hop_backward = hops,
                        .optimizer = times.optimizer_step.value_or(Seconds{0})};
  divide_into_pieces(input);
  const int last = input.schedule.stages / input.schedule.pipelines - 1;
  if (times.reduce_tied && last > 0) input.tied = {{{0, last}, *times.reduce_tied}};
  if (times.memory) input.capacity.assign(input.schedule.rows.size(), times.memory);
  return input;
}

}  // namespace headrace::cli
