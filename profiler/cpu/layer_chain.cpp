#include "profiler/cpu/layer_chain.h"

#include <chrono>
#include <utility>

#include <torch/csrc/autograd/autograd.h>

namespace headrace {
namespace {

// As in a pipeline, a micro-batch's activations are not the last thing the caches saw when its
// backward comes.
constexpr std::size_t kInFlight = 2;

Sample sample(int layer_class, Phase phase, Seconds start) {
  return {.series = kPhases * layer_class + static_cast<int>(phase), .time = steady_now() - start};
}

}  // namespace

Seconds steady_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Seconds(std::chrono::duration<double>(now).count());
}

Result<LayerChain> LayerChain::build(const ModelSpec& spec, const std::vector<LayerFacts>& chain,
                                     const std::vector<int>& positions,
                                     const TorchModelOptions& options) {
  LayerChain built;
  built.spec_ = spec;
  for (const int position : positions) {
    auto layer = make_layer(spec, chain[static_cast<std::size_t>(position)].id, options);
    if (!layer) return Failure(layer.error());
    built.parameters_.push_back((*layer)->parameters());
    built.layers_.push_back(std::move(*layer));
  }
  built.batch_ = make_microbatch(spec, options, 0);
  return built;
}

at::Tensor LayerChain::loss(const at::Tensor& output) const {
  return loss_of(spec_, output, batch_.target);
}

void LayerChain::forward(const std::vector<int>& class_of_layer, std::vector<Sample>& samples) {
  InFlight microbatch;
  at::Tensor x = batch_.input;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const Seconds start = steady_now();
    at::Tensor y = layers_[k]->forward(x);
    if (k + 1 == layers_.size()) y = loss(y);
    samples.push_back(sample(class_of_layer[k], Phase::kForward, start));
    microbatch.inputs.push_back(std::move(x));
    x = y.detach();
    if (k + 1 < layers_.size()) x.requires_grad_();
    microbatch.outputs.push_back(std::move(y));
  }
  in_flight_.push_back(std::move(microbatch));
}

void LayerChain::whole_backward(const std::vector<int>& class_of_layer,
                                std::vector<Sample>& samples) {
  InFlight microbatch = std::move(in_flight_.front());
  in_flight_.pop_front();
  at::Tensor gradient;  // Undefined stands for one: the loss.
  for (std::size_t k = layers_.size(); k-- > 0;) {
    const Seconds start = steady_now();
    torch::autograd::backward({microbatch.outputs[k]}, {gradient});
    microbatch.outputs[k] = at::Tensor();
    samples.push_back(sample(class_of_layer[k], Phase::kBackward, start));
    gradient = k == 0 ? at::Tensor() : microbatch.inputs[k].grad();
    microbatch.inputs[k] = at::Tensor();
  }
}

void LayerChain::split_backward(const std::vector<int>& class_of_layer,
                                std::vector<Sample>& samples) {
  InFlight microbatch = std::move(in_flight_.front());
  in_flight_.pop_front();
  std::vector<PendingWeightGradient> pending(layers_.size());
  at::Tensor gradient;
  for (std::size_t k = layers_.size(); k-- > 0;) {
    const Seconds start = steady_now();
    InputGradient halves =
        input_gradient(microbatch.outputs[k], gradient, microbatch.inputs[k], parameters_[k]);
    microbatch.outputs[k] = at::Tensor();
    samples.push_back(sample(class_of_layer[k], Phase::kInputGrad, start));
    microbatch.inputs[k] = at::Tensor();
    gradient = std::move(halves.input_gradient);
    pending[k] = std::move(halves.pending);
  }
  for (std::size_t k = layers_.size(); k-- > 0;) {
    const Seconds start = steady_now();
    weight_gradient(std::move(pending[k]));
    samples.push_back(sample(class_of_layer[k], Phase::kWeightGrad, start));
  }
}

std::vector<Sample> LayerChain::round(const std::vector<int>& class_of_layer) {
  std::vector<Sample> samples;
  std::vector<Sample> uncounted;
  while (in_flight_.size() + 1 < kInFlight) forward(class_of_layer, uncounted);
  forward(class_of_layer, samples);
  whole_backward(class_of_layer, samples);
  forward(class_of_layer, samples);
  split_backward(class_of_layer, samples);
  return samples;
}

LayerMemory LayerChain::memory_of(std::size_t layer) const {
  at::Tensor x = batch_.input;
  {
    const at::NoGradGuard no_grad;
    for (std::size_t k = 0; k < layer; ++k) x = layers_[k]->forward(x);
  }
  MeasuredLayer measured{
      .layer = layers_[layer].get(), .input = x, .needs_input_gradient = layer > 0, .loss = {}};
  if (layer + 1 == layers_.size()) {
    measured.loss = [this](const at::Tensor& output) { return loss(output); };
  }
  return measure_memory(measured);
}

std::int64_t LayerChain::parameter_bytes(std::size_t layer) const {
  std::int64_t bytes = 0;
  for (const at::Tensor& parameter : parameters_[layer]) {
    bytes += static_cast<std::int64_t>(parameter.nbytes());
  }
  return bytes;
}

std::vector<at::Tensor> LayerChain::parameters() const {
  std::vector<at::Tensor> all;
  for (const auto& some : parameters_) all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace headrace
