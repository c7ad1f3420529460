#include "executor/torch/torch_backend.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include "executor/torch/tensor_bytes.h"
#include "executor/torch/torch_errors.h"
#include "models/torch/optimizer.h"
#include "models/torch/split_backward.h"

namespace headrace {

TorchBackend::TorchBackend(const RunModel& model, const Schedule& schedule, Channel& channel,
                           TorchBackendOptions options)
    : model_(model),
      schedule_(schedule),
      channel_(channel),
      options_(std::move(options)),
      trains_(trains(schedule)) {}

Result<std::unique_ptr<TorchBackend>> TorchBackend::make(const RunModel& model,
                                                         const Schedule& schedule, Channel& channel,
                                                         const TorchBackendOptions& options) {
  const std::string doing = fmt::format("rank {}: building its stages", channel.rank());
  return without_exceptions(doing, [&]() -> Result<std::unique_ptr<TorchBackend>> {
    std::unique_ptr<TorchBackend> backend(new TorchBackend(model, schedule, channel, options));
    if (auto ok = backend->build(); !ok) return Failure(ok.error());
    return backend;
  });
}

Result<void> TorchBackend::build() {
  std::vector<torch::Tensor> all;
  std::vector<std::pair<int, StageModel*>> here;
  for (int s = 0; s < schedule_.stages; ++s) {
    if (number_of(schedule_.device_of_stage[static_cast<std::size_t>(s)]) != channel_.rank()) {
      continue;
    }
    auto stage = build_stage(model_, model_.layers_of_stage[static_cast<std::size_t>(s)]);
    if (!stage) return Failure(stage.error());
    parameters_[s] = stage->tensors();
    all.insert(all.end(), parameters_[s].begin(), parameters_[s].end());
    here.emplace_back(s, &(stages_[s] = std::move(*stage)));
  }
  make_data();
  const torch::Tensor first_input = data_.empty() ? torch::Tensor() : data_.front().input;
  auto shapes = learn_shapes(here, first_input, schedule_, channel_, options_.timeout);
  if (!shapes) return Failure(shapes.error());
  shapes_ = std::move(*shapes);
  auto tied = tied_groups(model_, schedule_, DeviceId{channel_.rank()}, here);
  if (!tied) return Failure(tied.error());
  tied_ = std::move(*tied);
  if (all.empty()) return {};  // Only layers without parameters: nothing to train.
  auto optimizer = make_optimizer(options_.optimizer, options_.learning_rate, std::move(all));
  if (!optimizer) return Failure(optimizer.error());
  optimizer_ = std::move(*optimizer);
  return {};
}

void TorchBackend::make_data() {
  if (!stages_.contains(0) && !stages_.contains(schedule_.stages - 1)) return;
  for (int m = 0; m < schedule_.microbatches; ++m) {
    data_.push_back(make_microbatch(model_.spec, model_.options, m));
  }
}

bool TorchBackend::is_last(StageId stage) const {
  return number_of(stage) + 1 == schedule_.stages;
}

TorchBackend::InFlight& TorchBackend::at(const Action& action) {
  return in_flight_[{number_of(action.stage), number_of(action.microbatch)}];
}

Result<std::optional<HeldMemory>> TorchBackend::compute(const Action& action) {
  const std::string doing = fmt::format("rank {}: {}", channel_.rank(), to_string(action));
  return without_exceptions(doing, [&]() -> Result<std::optional<HeldMemory>> {
    memory_.start();
    switch (action.kind) {
      case ActionKind::kForward:
        forward(action);
        break;
      case ActionKind::kBackward:
        backward(action);
        break;
      case ActionKind::kInputGrad:
        input_gradient_of(action);
        break;
      default:
        weight_gradient_of(action);
        break;
    }
    if (at(action).is_over()) {
      in_flight_.erase({number_of(action.stage), number_of(action.microbatch)});
    }
    return std::optional(memory_.held());
  });
}

void TorchBackend::forward(const Action& action) {
  InFlight& now = at(action);
  const std::size_t m = index_of(action.microbatch);
  if (number_of(action.stage) == 0) {
    now.input = data_[m].input;
  } else {
    now.input.requires_grad_();
  }
  const torch::AutoGradMode graph(trains_);
  now.output = stages_.at(number_of(action.stage)).forward(now.input);
  if (is_last(action.stage)) {
    now.output = loss_of(model_.spec, now.output, data_[m].target);
    loss_ += now.output.item<double>() / schedule_.microbatches;
  } else {
    now.sent_output = now.output.detach().contiguous();
  }
  if (trains_) return;
  now.output.reset();
  now.input.reset();
}

/// What the stage's output is worth: the next stage says so, and the loss counts 1/M.
torch::Tensor TorchBackend::output_gradient(const Action& action) {
  InFlight& now = at(action);
  if (!is_last(action.stage)) return std::move(now.output_gradient);
  return torch::full_like(now.output, 1.0 / schedule_.microbatches);
}

void TorchBackend::backward(const Action& action) {
  InFlight& now = at(action);
  torch::autograd::backward({now.output}, {output_gradient(action)});
  if (number_of(action.stage) > 0) now.input_gradient = now.input.grad().contiguous();
  now.output.reset();
  now.input.reset();
}

void TorchBackend::input_gradient_of(const Action& action) {
  InFlight& now = at(action);
  InputGradient halves = input_gradient(now.output, output_gradient(action), now.input,
                                        parameters_.at(number_of(action.stage)));
  now.weights = std::move(halves.pending);
  if (number_of(action.stage) > 0) now.input_gradient = halves.input_gradient.contiguous();
  now.output.reset();
  now.input.reset();
}

void TorchBackend::weight_gradient_of(const Action& action) {
  weight_gradient(std::exchange(at(action).weights, {}));
}

Result<std::span<std::byte>> TorchBackend::buffer(const Action& transfer) {
  const std::string doing = fmt::format("rank {}: {}", channel_.rank(), to_string(transfer));
  return without_exceptions(doing, [&]() -> Result<std::span<std::byte>> {
    InFlight& now = at(transfer);
    const StageShapes& shapes = shapes_.at(number_of(transfer.stage));
    switch (transfer.kind) {
      case ActionKind::kRecvForward:
        now.input = torch::empty(shapes.input.sizes, shapes.input.type);
        return bytes_of(now.input);
      case ActionKind::kRecvBackward:
        now.output_gradient = torch::empty(shapes.output.sizes, shapes.output.type);
        return bytes_of(now.output_gradient);
      case ActionKind::kSendForward:
        return bytes_of(now.sent_output);
      default:
        return bytes_of(now.input_gradient);
    }
  });
}

Result<void> TorchBackend::hand_over(const Action& send) {
  const bool forward = send.kind == ActionKind::kSendForward;
  const std::pair neighbour(number_of(send.stage) + (forward ? 1 : -1), number_of(send.microbatch));
  InFlight& now = at(send);
  if (forward) {
    in_flight_[neighbour].input = std::exchange(now.sent_output, {});
  } else {
    in_flight_[neighbour].output_gradient = std::exchange(now.input_gradient, {});
  }
  return {};
}

void TorchBackend::release(const Action& send) {
  InFlight& now = at(send);
  (send.kind == ActionKind::kSendForward ? now.sent_output : now.input_gradient).reset();
  if (now.is_over()) in_flight_.erase({number_of(send.stage), number_of(send.microbatch)});
}

Result<void> TorchBackend::finish_iteration() {
  const std::string doing = fmt::format("rank {}: optimizer step", channel_.rank());
  return without_exceptions(doing, [&]() -> Result<void> {
    in_flight_.clear();
    if (trains_) {
      if (auto ok = sum_tied_gradients(tied_, channel_, options_.timeout); !ok) return ok;
    }
    if (std::exchange(first_iteration_, false)) keep_first_iteration();
    loss_ = 0;
    if (!optimizer_ || !trains_) return {};
    optimizer_->step();
    // Gradients stay allocated: the next iteration adds to warm memory, as the profile did.
    optimizer_->zero_grad(/*set_to_none=*/false);
    return {};
  });
}

void TorchBackend::keep_first_iteration() {
  first_loss_ = loss_;
  if (!options_.keep_first_gradients) return;
  for (const auto& [stage, parameters] : parameters_) {
    for (const torch::Tensor& parameter : parameters) {
      first_gradients_[stage].push_back(parameter.grad().defined() ? parameter.grad().clone()
                                                                   : torch::zeros_like(parameter));
    }
  }
}

}  // namespace headrace
