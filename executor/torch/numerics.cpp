#include "executor/torch/numerics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include "executor/collectives.h"
#include "executor/torch/tensor_bytes.h"
#include "executor/torch/torch_errors.h"
#include "models/model_catalogue.h"

namespace headrace {
namespace {

/// Rounding in other orders stays far below; a wrong factor or a lost micro-batch far above.
double limit_for(const std::string& dtype) {
  if (dtype == "fp64") return 1e-12;
  return dtype == "fp32" ? 1e-5 : 3e-2;
}

double largest_value(const torch::Tensor& tensor) {
  return tensor.numel() == 0 ? 0 : tensor.abs().max().item<double>();
}

/// The whole model in one piece.
struct Reference {
  StageModel model;
  std::vector<torch::Tensor> gradients;  ///< In the order of the model's parameters.
  double loss = 0;
  double largest = 0;  ///< Of all gradients.
};

/// Gives every copy of a tied weight the sum of all copies' gradients.
Result<void> sum_tied(const RunModel& model, const StageModel& whole) {
  const auto facts =
      layers_of(model.spec, model.options.micro_batch, model.options.sequence_length);
  if (!facts) return Failure(facts.error());
  std::map<std::string, std::vector<torch::Tensor>> groups;
  for (std::size_t i = 0; i < whole.layers.size(); ++i) {
    const std::string& name = (*facts)[i].tie_group;
    if (!name.empty()) groups[name].push_back(whole.layers[i]->tied_weight());
  }
  const torch::NoGradGuard no_graph;
  for (const auto& [name, copies] : groups) {
    torch::Tensor sum = copies.front().grad().clone();
    for (std::size_t i = 1; i < copies.size(); ++i) sum += copies[i].grad();
    for (const torch::Tensor& copy : copies) copy.grad().copy_(sum);
  }
  return {};
}

Result<Reference> run_unsplit(const RunModel& model, int microbatches) {
  std::vector<std::string> all_layers;
  for (const auto& layers : model.layers_of_stage) {
    all_layers.insert(all_layers.end(), layers.begin(), layers.end());
  }
  auto whole = build_stage(model, all_layers);
  if (!whole) return Failure(whole.error());
  Reference reference{.model = std::move(*whole), .gradients = {}};
  for (int m = 0; m < microbatches; ++m) {
    const Batch batch = make_microbatch(model.spec, model.options, m);
    const torch::Tensor loss =
        loss_of(model.spec, reference.model.forward(batch.input), batch.target);
    reference.loss += loss.item<double>() / microbatches;
    torch::autograd::backward({loss}, {torch::full_like(loss, 1.0 / microbatches)});
  }
  if (auto ok = sum_tied(model, reference.model); !ok) return Failure(ok.error());
  for (const NamedParameter& parameter : reference.model.parameters) {
    const torch::Tensor gradient = parameter.value.grad();
    reference.gradients.push_back(gradient.defined() ? gradient
                                                     : torch::zeros_like(parameter.value));
    reference.largest = std::max(reference.largest, largest_value(reference.gradients.back()));
  }
  return reference;
}

/// Every rank but 0: hands over its gradients stage by stage, and its loss.
Result<void> send_gradients(const TorchBackend& backend, Channel& channel, Seconds timeout) {
  for (const auto& [stage, gradients] : backend.first_gradients()) {
    for (const torch::Tensor& gradient : gradients) {
      auto ok = send_bytes(channel, {0, kNumericsTag}, bytes_of(gradient.contiguous()), timeout);
      if (!ok) return ok;
    }
  }
  return {};
}

/// Rank 0: the gradients of one stage, its own or another rank's, shaped like the reference's.
Result<std::vector<torch::Tensor>> gradients_of_stage(int stage, int owner,
                                                      std::span<const torch::Tensor> reference,
                                                      const TorchBackend& backend, Channel& channel,
                                                      Seconds timeout) {
  if (owner == 0) {
    const auto found = backend.first_gradients().find(stage);
    return found == backend.first_gradients().end() ? std::vector<torch::Tensor>() : found->second;
  }
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& expected : reference) {
    const auto bytes = receive_bytes(channel, {owner, kNumericsTag}, timeout);
    if (!bytes) return Failure(bytes.error());
    gradients.push_back(torch::empty_like(expected, torch::MemoryFormat::Contiguous));
    if (auto ok = copy_bytes(*bytes, gradients.back()); !ok) return Failure(ok.error());
  }
  return gradients;
}

Failure mismatch(const NumericsReport& report) {
  const GradientComparison& worst = report.worst;
  if (report.loss_difference > report.limit) {
    return Failure({.code = ErrorCode::kMismatch,
                    .what = fmt::format("loss {:.9g} differs from the unsplit model's {:.9g} by "
                                        "{:.2e} relative (limit {:.0e})",
                                        report.loss, report.reference_loss, report.loss_difference,
                                        report.limit),
                    .where = "numerics",
                    .fix = "report it with the plan and schedule that were run"});
  }
  return Failure({.code = ErrorCode::kMismatch,
                  .what = fmt::format("gradient of {} differs from the unsplit model's by {:.2e} "
                                      "relative (limit {:.0e}); it is {:.3f} times as large",
                                      worst.parameter, worst.difference, report.limit, worst.ratio),
                  .where = "numerics",
                  .fix = "report it with the plan and schedule that were run"});
}

/// Rank 0 compares stage by stage and stops at the first parameter beyond the limit.
Result<NumericsReport> compare_all(const RunModel& model, const Schedule& schedule,
                                   const TorchBackend& backend, Channel& channel, Seconds timeout) {
  const auto reference = run_unsplit(model, schedule.microbatches);
  if (!reference) return Failure(reference.error());
  NumericsReport report{
      .reference_loss = reference->loss, .limit = limit_for(model.options.dtype), .worst = {}};
  std::size_t next = 0;
  for (int s = 0; s < schedule.stages; ++s) {
    const auto& layers = model.layers_of_stage[static_cast<std::size_t>(s)];
    std::size_t count = 0;
    for (const std::string& layer : layers) {
      count += static_cast<std::size_t>(std::ranges::count_if(
          reference->model.parameters,
          [&](const NamedParameter& p) { return p.name.starts_with(layer + "."); }));
    }
    const auto expected = std::span(reference->gradients).subspan(next, count);
    const int owner = number_of(schedule.device_of_stage[static_cast<std::size_t>(s)]);
    const auto ours = gradients_of_stage(s, owner, expected, backend, channel, timeout);
    if (!ours) return Failure(ours.error());
    for (std::size_t i = 0; i < count; ++i, ++report.parameters) {
      const auto compared = compare_gradients(reference->model.parameters[next + i].name,
                                              (*ours)[i], expected[i], reference->largest);
      if (report.parameters > 0 && compared.difference <= report.worst.difference) continue;
      report.worst = compared;
      if (report.worst.difference > report.limit) return mismatch(report);
    }
    next += count;
  }
  return report;
}

/// The last stage's loss, brought to rank 0.
Result<double> loss_at_root(const Schedule& schedule, const TorchBackend& backend, Channel& channel,
                            Seconds timeout) {
  const int owner = number_of(schedule.device_of_stage.back());
  double loss = backend.first_loss();
  if (owner == 0) return loss;
  const auto loss_bytes = std::as_writable_bytes(std::span(&loss, 1));
  if (channel.rank() == owner) {
    auto ok = send_bytes(channel, {0, kNumericsTag}, loss_bytes, timeout);
    if (!ok) return Failure(ok.error());
  } else if (channel.rank() == 0) {
    const auto bytes = receive_bytes(channel, {owner, kNumericsTag}, timeout);
    if (!bytes) return Failure(bytes.error());
    HEADRACE_CHECK(bytes->size() == sizeof loss, "a loss is one double");
    std::ranges::copy(*bytes, loss_bytes.begin());
  }
  return loss;
}

}  // namespace

GradientComparison compare_gradients(const std::string& parameter, const torch::Tensor& ours,
                                     const torch::Tensor& reference, double largest) {
  const torch::NoGradGuard no_graph;
  const torch::Tensor a = ours.to(torch::kDouble);
  const torch::Tensor b = reference.to(torch::kDouble);
  constexpr double kRounding = 1e-6;
  const double scale = std::max(largest_value(b), kRounding * largest);
  const double apart = largest_value(a - b);
  const double square = (b * b).sum().item<double>();
  GradientComparison compared{.parameter = parameter};
  // Nothing to divide by: the whole model's gradient is zero.
  compared.difference = scale > 0 ? apart / scale : apart;
  // NaN would slip through every comparison.
  if (!std::isfinite(apart)) compared.difference = HUGE_VAL;
  compared.ratio = square > 0 ? (a * b).sum().item<double>() / square : 1;
  return compared;
}

Result<NumericsReport> check_numerics(const RunModel& model, const Schedule& schedule,
                                      const TorchBackend& backend, Channel& channel,
                                      Seconds timeout) {
  // The others wait while rank 0 computes the whole model alone.
  constexpr double kPatience = 20;
  const Seconds patience = timeout * kPatience;
  const std::string doing = fmt::format("rank {}: numerics check", channel.rank());
  return without_exceptions(doing, [&]() -> Result<NumericsReport> {
    const auto loss = loss_at_root(schedule, backend, channel, patience);
    if (!loss) return Failure(loss.error());
    if (channel.rank() != 0) {
      if (auto ok = send_gradients(backend, channel, patience); !ok) return Failure(ok.error());
      if (auto ok = barrier(channel, patience); !ok) return Failure(ok.error());
      return NumericsReport{};
    }
    auto report = compare_all(model, schedule, backend, channel, patience);
    if (!report) return report;
    report->loss = *loss;
    report->loss_difference = std::abs(*loss - report->reference_loss) /
                              std::max(std::abs(report->reference_loss), 1e-30);
    if (!std::isfinite(report->loss_difference)) report->loss_difference = HUGE_VAL;
    if (report->loss_difference > report->limit) return mismatch(*report);
    if (auto ok = barrier(channel, patience); !ok) return Failure(ok.error());
    return report;
  });
}

}  // namespace headrace
