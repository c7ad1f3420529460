#include "tools/headrace/variation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "core/text.h"
#include "planner/planner.h"
#include "simulator/schedule_catalogue.h"
#include "tools/headrace/variation_input.h"
#include "tools/headrace/varied_profiles.h"

namespace headrace::cli {
namespace {

Result<int> count(const Change& change) {
  std::optional<int> value;
  if (auto ok = count_into(value)(change.value, where_of(change)); !ok) {
    return Failure(ok.error());
  }
  return *value;
}

class Variation {
 public:
  explicit Variation(const VariationBase& base)
      : base_(base), schedule_(base.schedule), model_(base.model), profiles_(base.profiles) {
    if (base.plan) plan_ = *base.plan;
  }

  Result<VariedInput> run(std::span<const Change> changes) {
    for (const Change& change : changes) {
      if (auto ok = take(change); !ok) return Failure(ok.error());
    }
    auto input = base_.plan ? input_of_plan() : input_of_flags();
    if (!input) return Failure(input.error());
    for (const Change& change : later_) {
      if (auto ok = apply_change(change, base_.plan.has_value(), *input); !ok)
        return Failure(ok.error());
    }
    auto chosen =
        chosen_input(*std::move(input), model_, base_.plan ? &plan_.inputs.cluster : nullptr);
    if (!chosen) return Failure(chosen.error());
    return VariedInput{.input = *std::move(chosen), .note = std::move(note_)};
  }

 private:
  /// Sorts a change to where it acts: before the input is built, or on it.
  Result<void> take(const Change& change) {
    const std::string_view subject = piece_of(change.key, 0);
    if (subject == "stage" || subject == "device" || subject == "hop") {
      later_.push_back(change);
      return {};
    }
    if (subject == "link") return change_link(change);
    if (subject == "layer") {
      profiles_.change_layers(change);
      return {};
    }
    if (change.multiplies) return bad_change(change, "only times have factors", "write KEY=VALUE");
    return take_setting(change);
  }

  Result<void> take_setting(const Change& change) {
    const std::string where = where_of(change);
    if (change.key == "schedule") {
      schedule_.schedule = change.value;
      schedule_.csv_file.clear();
      return {};
    }
    if (change.key == "communication") {
      return choice_into(model_.communication, {"async", "blocking-recv", "rendezvous", "batched"})(
          change.value, where);
    }
    if (change.key == "streams") {
      return choice_into(model_.streams, {"unlimited", "per-direction", "shared"})(change.value,
                                                                                   where);
    }
    if (change.key == "overlap") return fraction_into(model_.overlap_share)(change.value, where);
    if (change.key == "recompute") {
      std::string choice;
      if (auto ok = choice_into(choice, {"none", "all"})(change.value, where); !ok) return ok;
      model_.recompute = choice == "all";
      if (model_.recompute) add_note("recompute assumed to take each stage's forward");
      return {};
    }
    if (change.key == "offload") {
      model_.offload.reset();
      if (change.value == "none") return {};
      return bandwidth_into(model_.offload)(change.value, where);
    }
    if (change.key == "device-kind") {
      profiles_.choose_kind(change.value);
      return {};
    }
    const auto number = count(change);
    if (!number) return Failure(number.error());
    if (change.key == "micro-batches") schedule_.microbatches = *number;
    if (change.key == "stages") stages_ = *number;
    if (change.key == "virtual") virtual_ = *number;
    if (change.key == "micro-batch-size") micro_batch_size_ = *number;
    return {};
  }

  void add_note(const std::string& text) { note_ += (note_.empty() ? "" : "; ") + text; }

  /// Between the devices that a key names by their place in the cluster.
  Result<void> change_link(const Change& change) {
    if (!base_.plan) {
      return bad_change(change, "without a plan there are no links, only the time of a message",
                        "use hop=0.1ms, or give a plan");
    }
    Cluster& cluster = plan_.inputs.cluster;
    const std::string_view ends = piece_of(change.key, 1);
    if (ends == "*") {
      for (LinkSpeed* link : {&cluster.intra_node, &cluster.inter_node}) {
        if (auto ok = set_speed(change, *link); !ok) return ok;
      }
      for (Link& link : cluster.links) {
        if (auto ok = set_speed(change, link.speed); !ok) return ok;
      }
      return {};
    }
    const std::size_t dash = ends.find('-');
    if (dash == std::string_view::npos) {
      return bad_change(change, fmt::format("'{}' names no link", ends), "write link.0-1.gbps=25");
    }
    const auto a = numbers(change, ends.substr(0, dash), cluster.devices.size(), "device");
    if (!a) return Failure(a.error());
    const auto b = numbers(change, ends.substr(dash + 1), cluster.devices.size(), "device");
    if (!b) return Failure(b.error());
    if (a->size() != 1 || b->size() != 1 || a->front() == b->front()) {
      return bad_change(change, "a link has two ends", "write link.0-1.gbps=25, or link.*.gbps=25");
    }
    return set_speed(change, link_between(a->front(), b->front()).speed);
  }

  Link& link_between(std::size_t a, std::size_t b) {
    Cluster& cluster = plan_.inputs.cluster;
    const std::string& from = cluster.devices[a].id;
    const std::string& to = cluster.devices[b].id;
    const auto found = std::ranges::find_if(cluster.links, [&](const Link& link) {
      return (link.from == from && link.to == to) || (link.from == to && link.to == from);
    });
    if (found != cluster.links.end()) return *found;
    const LinkSpeed speed =
        cluster.link_between(DeviceId{static_cast<int>(a)}, DeviceId{static_cast<int>(b)});
    return cluster.links.emplace_back(Link{.from = from, .to = to, .speed = speed});
  }

  static Result<void> set_speed(const Change& change, LinkSpeed& link) {
    if (piece_of(change.key, 2) == "latency") return set_time(change, link.latency);
    const auto number = positive_number(change);
    if (!number) return Failure(number.error());
    constexpr double kBytesPerGigabit = 1e9 / 8;
    link.bandwidth =
        change.multiplies ? link.bandwidth * *number : BytesPerSecond(*number * kBytesPerGigabit);
    return {};
  }

  // --- a plan ---

  [[nodiscard]] bool cuts_anew() const {
    return stages_ || virtual_ || micro_batch_size_ || profiles_.kind();
  }

  /// A schedule for one stage per device where there are several, or the other way round, gets what
  /// it wants on the same devices.
  Result<void> follow_schedule(int now) {
    if (virtual_ || stages_ || schedule_.schedule.empty()) return {};
    const auto request = schedule_request_from_text(schedule_.schedule);
    if (!request) return Failure(request.error());
    const int wanted = default_virtual_stages(request->name);
    if ((wanted == 1) != (now == 1)) virtual_ = wanted;
    return {};
  }

  Result<SimulationInput> input_of_plan() {
    if (auto ok = follow_schedule(std::max(1, plan_.parallel.virtual_stages)); !ok) {
      return Failure(ok.error());
    }
    if (cuts_anew()) {
      if (auto ok = cut_anew(); !ok) return Failure(ok.error());
    } else if (!profiles_.changes().empty()) {
      if (auto ok = scale_layers(plan_); !ok) return Failure(ok.error());
    }
    const auto scheduled = schedule_plan(plan_, schedule_);
    if (!scheduled) return Failure(scheduled.error());
    plan_ = scheduled->plan;
    return simulation_input(plan_, scheduled->schedule);
  }

  /// Keeps the cut; the stages' times follow their layers'.
  Result<void> scale_layers(Plan& plan) {
    const auto profile = profiles_.of_size(plan.micro_batch_size);
    if (!profile) return Failure(profile.error());
    std::vector<bool> used(profiles_.changes().size());
    for (PlanStage& stage : plan.stages) {
      Duration before;
      Duration after;
      for (const Layer& layer : (*profile)->graph.layers()) {
        if (std::ranges::find(stage.layers, layer.id) == stage.layers.end()) continue;
        const auto factor = profiles_.factor_of(layer.id, used);
        if (!factor) return Failure(factor.error());
        before = before + layer.forward;
        after = after + Duration{.mean = layer.forward.mean * *factor};
        add_change(stage, layer, *factor);
      }
    }
    return profiles_.all_used(used);
  }

  /// Adds what a layer takes more, on the stage's device.
  static void add_change(PlanStage& stage, const Layer& layer, double factor) {
    const double more = factor - 1;
    stage.forward.mean += layer.forward.mean * more;
    stage.backward.mean += layer.backward.mean * more;
    if (stage.input_grad && layer.input_grad) {
      stage.input_grad->mean += layer.input_grad->mean * more;
    }
    if (stage.weight_grad && layer.weight_grad) {
      stage.weight_grad->mean += layer.weight_grad->mean * more;
    }
  }

  Result<void> cut_anew() {
    const int size = micro_batch_size_.value_or(plan_.micro_batch_size);
    const auto profile = profiles_.scaled(size);
    if (!profile) return Failure(profile.error());
    if (micro_batch_size_ && !schedule_.microbatches) {
      const int data = std::max(1, plan_.parallel.data);
      if (plan_.global_batch % (size * data) != 0) {
        return Failure({.code = ErrorCode::kUsage,
                        .what = fmt::format("the global batch of {} is no multiple of {} x {}",
                                            plan_.global_batch, size, data),
                        .where = "micro-batch-size",
                        .fix = "use a size that divides it, or set micro-batches too"});
      }
      schedule_.microbatches = plan_.global_batch / (size * data);
    }
    const std::string name = schedule_.schedule.empty() ? plan_.schedule : schedule_.schedule;
    const auto request = schedule_request_from_text(name);
    if (!request) return Failure(request.error());
    const int per_device = virtual_.value_or(
        std::max(plan_.parallel.virtual_stages, default_virtual_stages(request->name)));
    const int stages = stages_.value_or(plan_.parallel.pipeline * per_device);
    if (stages % per_device != 0) {
      return Failure(
          {.code = ErrorCode::kUsage,
           .what = fmt::format("{} stages do not divide by {} per device", stages, per_device),
           .where = "virtual",
           .fix = fmt::format("use stages={}", (stages / per_device + 1) * per_device)});
    }
    return replan(*profile, name, stages, per_device);
  }

  /// Where each stage stands: the schedule says it.
  Result<void> replan(const Profile& profile, const std::string& name, int stages, int per_device) {
    const int devices = stages / per_device;
    const int microbatches = schedule_.microbatches.value_or(plan_.microbatches);
    const auto schedule =
        generated_schedule(name, {.stages = stages, .devices = devices}, microbatches);
    if (!schedule) return Failure(schedule.error());
    const Cluster real = plan_.inputs.cluster;
    if (static_cast<std::size_t>(devices) > real.devices.size()) {
      return Failure({.code = ErrorCode::kInfeasible,
                      .what = fmt::format("{} stages, {} per device, need {} devices; there are {}",
                                          stages, per_device, devices, real.devices.size()),
                      .where = "stages",
                      .fix = "use fewer stages, or plan with more devices"});
    }
    PlanRequest request{.stages = stages,
                        .microbatches = microbatches,
                        .global_batch = microbatches * profile.micro_batch_size,
                        .schedule = schedule->name,
                        .in_flight = peak_in_flight(*schedule),
                        .objective = plan_.objective};
    request.in_flight.resize(static_cast<std::size_t>(stages));
    if (per_device > 1) {
      request.device_of_stage = schedule->device_of_stage;
      request.held_together = largest_holdings(*schedule);
    }
    const auto made = make_plan(profile, real, request, scorer_of(*schedule));
    if (!made) return Failure(made.error());
    adopt(*made, profile);
    return {};
  }

  static PlanScorer scorer_of(const Schedule& schedule) {
    return [&schedule](const Plan& plan) -> Result<Seconds> {
      const auto input = simulation_input(plan, schedule);
      if (!input) return Failure(input.error());
      return simulated_iteration(*input);
    };
  }

  void adopt(const Plan& made, const Profile& profile) {
    const int global_batch = plan_.global_batch;
    const std::string schedule_name = plan_.schedule;
    const auto parameters = plan_.schedule_parameters;
    plan_ = made;
    plan_.schedule = schedule_name;
    plan_.schedule_parameters = parameters;
    plan_.micro_batch_size = profile.micro_batch_size;
    plan_.global_batch = global_batch;
  }

  // --- flags ---

  Result<SimulationInput> input_of_flags() {
    if (!profiles_.changes().empty() || micro_batch_size_ || profiles_.kind()) {
      return Failure({.code = ErrorCode::kUsage,
                      .what = "layers, micro-batch sizes and device kinds are known of plans only",
                      .where = !profiles_.changes().empty() ? profiles_.changes().front().key
                               : micro_batch_size_          ? "micro-batch-size"
                                                            : "device-kind",
                      .fix = "give PLAN, or use stage.N.forward and the like"});
    }
    StageTimes times = base_.times;
    if (base_.schedule.csv_file.empty()) {
      const auto request = schedule_request_from_text(
          base_.schedule.schedule.empty() ? "1f1b" : base_.schedule.schedule);
      if (!request) return Failure(request.error());
      if (!times.virtual_stages) times.virtual_stages = default_virtual_stages(request->name);
      if (auto ok = follow_schedule(*times.virtual_stages); !ok) return Failure(ok.error());
    }
    if (cuts_anew()) {
      if (auto ok = scale_stages(times); !ok) return Failure(ok.error());
    }
    return input_from_flags(times, schedule_);
  }

  /// Equal stages only: the same work in another number of them, on the same devices where only
  /// `virtual` changes.
  Result<void> scale_stages(StageTimes& times) {
    for (const auto* list : {&times.forward, &times.backward, &times.weight_grad}) {
      if (list->size() <= 1) continue;
      return Failure({.code = ErrorCode::kUsage,
                      .what = "stages of different times cannot be cut anew without their layers",
                      .where = stages_ ? "stages" : "virtual",
                      .fix = "give one time for all stages, or a plan with its profile"});
    }
    const auto request =
        schedule_request_from_text(schedule_.schedule.empty() ? "1f1b" : schedule_.schedule);
    if (!request) return Failure(request.error());
    const int before = times.stages.value_or(1);
    const int old_virtual = times.virtual_stages.value_or(default_virtual_stages(request->name));
    const int devices = before / old_virtual;
    const int per_device = virtual_.value_or(old_virtual);
    const int stages = stages_.value_or(devices * per_device);
    times.stages = stages;
    times.virtual_stages = per_device;
    const double share = static_cast<double>(before) / stages;
    for (auto* list : {&times.forward, &times.backward, &times.weight_grad}) {
      for (Seconds& time : *list) time = time * share;
    }
    for (auto* list : {&times.state}) {
      for (Bytes& size : *list) {
        size = Bytes(std::llround(static_cast<double>(size.value()) * share));
      }
    }
    if (times.activation) scale_activation(*times.activation, share);
    add_note("equal stages of the same work");
    return {};
  }

  static void scale_activation(ActivationList& activation, double share) {
    if (auto* sizes = std::get_if<std::vector<Bytes>>(&activation)) {
      for (Bytes& size : *sizes) {
        size = Bytes(std::llround(static_cast<double>(size.value()) * share));
      }
    } else {
      for (double& units : std::get<std::vector<double>>(activation)) units *= share;
    }
  }

  const VariationBase& base_;
  Plan plan_;
  ScheduleChoice schedule_;
  SimulationChoice model_;
  VariedProfiles profiles_;
  std::optional<int> stages_;
  std::optional<int> virtual_;
  std::optional<int> micro_batch_size_;
  std::vector<Change> later_;  ///< Acts on the finished input.
  std::string note_;
};

}  // namespace

Result<VariedInput> varied_input(const VariationBase& base, std::span<const Change> changes) {
  return Variation(base).run(changes);
}

}  // namespace headrace::cli
