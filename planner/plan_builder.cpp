#include "planner/plan_builder.h"

#include <algorithm>

#include "planner/memory.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

Duration scaled(const Duration& duration, double factor) {
  return {.mean = duration.mean * factor, .stddev = duration.stddev * factor};
}

/// A sum that is absent as soon as one part is.
void add(std::optional<Duration>& sum, const std::optional<Duration>& part) {
  sum = sum && part ? std::optional(*sum + *part) : std::nullopt;
}

void append(std::vector<double>& key, const std::optional<Duration>& duration) {
  key.push_back(duration ? duration->mean.value() : -1);
}

}  // namespace

PlanBuilder::PlanBuilder(const Profile& profile, const Cluster& cluster, const PlanRequest& request)
    : profile_(profile),
      cluster_(cluster),
      request_(request),
      border_bytes_(profile.graph.border_bytes()) {
  const auto layers = static_cast<int>(profile.graph.layers().size());
  parameters_ = stage_memory(profile.graph, border_bytes_, {.last = layers}).parameters;
}

PlanStage PlanBuilder::stage_of(int stage, int first, int last) const {
  const Device& device = cluster_.devices[device_of(request_, stage)];
  PlanStage result;
  result.devices = {device.id};
  result.input_grad = Duration{};
  result.weight_grad = Duration{};
  for (int position = first; position < last; ++position) {
    const Layer& layer = profile_.graph.layer(profile_.graph.chain_order()[at(position)]);
    result.layers.push_back(layer.id);
    result.forward = result.forward + layer.forward;
    result.backward = result.backward + layer.backward;
    add(result.input_grad, layer.input_grad);
    add(result.weight_grad, layer.weight_grad);
    result.saved_activation += layer.saved_activation;
  }
  if (first == 0 && result.input_grad && result.weight_grad && input_needs_no_gradient()) {
    result.input_grad = Duration{};
    result.weight_grad = result.backward;
  }
  const double factor = 1 / device.speed;
  result.forward = scaled(result.forward, factor);
  result.backward = scaled(result.backward, factor);
  if (result.input_grad) result.input_grad = scaled(*result.input_grad, factor);
  if (result.weight_grad) result.weight_grad = scaled(*result.weight_grad, factor);
  result.output = border_bytes_[at(last)];
  result.memory =
      stage_memory(profile_.graph, border_bytes_,
                   {.first = first, .last = last, .in_flight = request_.in_flight[at(stage)]});
  if (!is_placed(request_)) result.capacity = device.memory;
  if (device.memory) result.memory.margin = memory_margin(*device.memory, request_.memory_margin);
  return result;
}

/// Nobody asks for the gradient of the model's own input, so the first stage has no I: its W is the
/// whole backward, through all of its layers. The profile says so of the first layer.
bool PlanBuilder::input_needs_no_gradient() const {
  const auto& input_grad = profile_.graph.layer(profile_.graph.chain_order().front()).input_grad;
  return input_grad && input_grad->mean == Seconds{0};
}

/// Optimizers touch every parameter once; without parameters known, layers stand in for them.
double PlanBuilder::optimizer_share(Bytes parameters, int layers) const {
  if (parameters_ > Bytes{0}) return ratio(parameters, parameters_);
  return static_cast<double>(layers) / static_cast<double>(profile_.graph.layers().size());
}

Plan PlanBuilder::plan_of(const Borders& borders) const {
  Plan plan{.model = profile_.model,
            .dtype = profile_.dtype,
            .sequence_length = profile_.sequence_length,
            .objective = request_.objective,
            .parallel = {.pipeline = request_.stages},
            .global_batch = request_.global_batch,
            .micro_batch_size = profile_.micro_batch_size,
            .microbatches = request_.microbatches,
            .schedule = request_.schedule,
            .schedule_parameters = request_.schedule_parameters,
            .optimizer = profile_.optimizer};
  plan.inputs.profile_fingerprint = profile_.fingerprint;
  plan.inputs.cluster = cluster_;
  std::vector<double> shares;
  for (int s = 0; s < request_.stages; ++s) {
    const int first = borders[at(s)];
    const int last = borders[at(s) + 1];
    plan.stages.push_back(stage_of(s, first, last));
    shares.push_back(optimizer_share(plan.stages.back().memory.parameters, last - first));
  }
  add_device_sums(plan, shares);
  for (const SplitTie& tie : split_ties(profile_.graph, borders)) {
    plan.tied.push_back({.stages = {tie.first_stage, tie.second_stage}, .gradient = tie.gradient});
  }
  return plan;
}

/// The busiest device, and the slowest optimizer step: a device updates all of its stages.
void PlanBuilder::add_device_sums(Plan& plan, const std::vector<double>& shares) const {
  std::vector<Seconds> busy(cluster_.devices.size());
  std::vector<double> share(cluster_.devices.size());
  std::size_t used = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    const std::size_t device = device_of(request_, static_cast<int>(s));
    const bool forward_only = request_.passes == Passes::kForwardOnly;
    busy[device] += stage.forward.mean + (forward_only ? Seconds{0} : stage.backward.mean);
    share[device] += shares[s];
    used = std::max(used, device + 1);
  }
  for (std::size_t d = 0; d < used; ++d) {
    plan.bottleneck = std::max(plan.bottleneck, busy[d]);
    const Duration step = scaled(profile_.optimizer_step, share[d] / cluster_.devices[d].speed);
    if (step.mean > plan.optimizer_step.mean) plan.optimizer_step = step;
  }
  if (!is_placed(request_)) return;
  plan.parallel.pipeline = static_cast<int>(used);
  plan.parallel.virtual_stages = request_.stages / static_cast<int>(used);
}

std::optional<int> PlanBuilder::overfull_stage(const Plan& plan) const {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto capacity = device_capacity(s);
    if (capacity && device_memory(plan, s) > *capacity) return static_cast<int>(s);
  }
  return std::nullopt;
}

std::optional<Bytes> PlanBuilder::device_capacity(std::size_t s) const {
  return cluster_.devices[device_of(request_, static_cast<int>(s))].memory;
}

Bytes PlanBuilder::device_memory(const Plan& plan, std::size_t s) const {
  if (!is_placed(request_)) return plan.stages[s].memory.total();
  return shared_memory(plan, device_of(request_, static_cast<int>(s)));
}

/// Everything adds up but the workspace, of which the largest counts, the margin, which is the
/// device's, and the activations, which peak together.
Bytes PlanBuilder::shared_memory(const Plan& plan, std::size_t device) const {
  Bytes sum{0};
  Bytes workspace{0};
  Bytes margin{0};
  std::vector<Bytes> activation;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (device_of(request_, static_cast<int>(s)) != device) continue;
    MemoryItems items = plan.stages[s].memory;
    workspace = std::max(workspace, items.workspace);
    margin = std::max(margin, items.margin);
    items.workspace = items.margin = items.activations = Bytes{0};
    sum += items.total();
    activation.push_back(plan.stages[s].saved_activation);
  }
  Bytes held{0};
  for (const std::vector<int>& counts : request_.held_together[device]) {
    Bytes now{0};
    for (std::size_t i = 0; i < counts.size(); ++i) now += activation[i] * counts[i];
    held = std::max(held, now);
  }
  return sum + workspace + margin + held;
}

Seconds PlanBuilder::least_optimizer_step() const {
  double fastest = 0;
  std::size_t devices = 0;
  for (int s = 0; s < request_.stages; ++s) {
    const std::size_t device = device_of(request_, s);
    fastest = std::max(fastest, cluster_.devices[device].speed);
    devices = std::max(devices, device + 1);
  }
  double share = 1.0 / static_cast<double>(devices);
  for (const Layer& layer : profile_.graph.layers()) {
    share = std::max(share, optimizer_share(layer.parameters, 1));
  }
  return profile_.optimizer_step.mean * (share / fastest);
}

Result<ScoreBook::Entry> ScoreBook::score(const Plan& plan) {
  std::vector<double> key{plan.optimizer_step.mean.value()};
  for (const PlanStage& stage : plan.stages) {
    key.push_back(stage.forward.mean.value());
    key.push_back(stage.backward.mean.value());
    append(key, stage.input_grad);
    append(key, stage.weight_grad);
    key.push_back(static_cast<double>(stage.output.value()));
  }
  for (const TiedWeights& tied : plan.tied) {
    key.insert(key.end(), tied.stages.begin(), tied.stages.end());
    key.push_back(static_cast<double>(tied.gradient.value()));
  }
  if (const auto found = known_.find(key); found != known_.end()) {
    return Entry{.iteration = found->second, .fresh = false};
  }
  const auto iteration = scorer_(plan);
  if (!iteration) return Failure(iteration.error());
  known_.emplace(std::move(key), *iteration);
  return Entry{.iteration = *iteration};
}

}  // namespace headrace
