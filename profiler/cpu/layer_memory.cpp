#include "profiler/cpu/layer_memory.h"

#include <algorithm>
#include <utility>

#include <torch/csrc/autograd/autograd.h>

#include "models/torch/split_backward.h"
#include "profiler/cpu/allocation_log.h"
#include "profiler/cpu/saved_tensors.h"

namespace headrace {
namespace {

at::Tensor fresh_input(const MeasuredLayer& measured) {
  at::Tensor x = measured.input.detach().clone();
  if (measured.needs_input_gradient) x.requires_grad_();
  return x;
}

at::Tensor run_forward(const MeasuredLayer& measured, const at::Tensor& x) {
  const at::Tensor y = measured.layer->forward(x);
  return measured.loss ? measured.loss(y) : y;
}

std::int64_t storage_bytes(const at::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.storage().nbytes());
}

std::int64_t saved_bytes(const MeasuredLayer& measured) {
  const at::Tensor x = fresh_input(measured);
  SavedTensors saved;
  for (const at::Tensor& parameter : measured.layer->parameters()) saved.exclude(parameter);
  for (const at::Tensor& constant : measured.layer->buffers()) saved.exclude(constant);
  saved.exclude(x);
  const at::Tensor y = run_forward(measured, x);
  saved.exclude(y);
  return saved.bytes() + storage_bytes(x);
}

// A whole step also makes sure that the gradients exist.
std::int64_t peak_of_step(const MeasuredLayer& measured, std::int64_t saved) {
  AllocationLog log;
  const at::Tensor x = fresh_input(measured);
  at::Tensor y = run_forward(measured, x);
  const std::int64_t forward = log.peak() - saved;
  at::Tensor gradient = at::ones_like(y);
  log.restart_peak();
  torch::autograd::backward({y}, {gradient});
  return std::max(forward, log.peak() - saved);
}

// Everything of ours is dropped after I; what is left is what W waits with.
std::int64_t bytes_between_halves(const MeasuredLayer& measured) {
  AllocationLog log;
  const std::vector<at::Tensor> parameters = measured.layer->parameters();
  at::Tensor x = fresh_input(measured);
  at::Tensor y = run_forward(measured, x);
  at::Tensor gradient = at::ones_like(y);
  InputGradient halves = input_gradient(y, gradient, x, parameters);
  x = y = gradient = halves.input_gradient = at::Tensor();
  const std::int64_t held = log.current();
  weight_gradient(std::move(halves.pending));
  return held;
}

}  // namespace

LayerMemory measure_memory(const MeasuredLayer& measured) {
  LayerMemory memory;
  const std::int64_t saved = saved_bytes(measured);
  memory.saved_activation = Bytes(saved);
  peak_of_step(measured, saved);  // The first one allocates the gradients.
  memory.workspace = Bytes(std::max<std::int64_t>(0, peak_of_step(measured, saved)));
  if (measured.needs_input_gradient) {
    memory.deferred_weight_grad = Bytes(bytes_between_halves(measured));
  }
  if (!measured.loss) {
    const at::Tensor x = fresh_input(measured);
    memory.output = Bytes(static_cast<std::int64_t>(measured.layer->forward(x).nbytes()));
  }
  return memory;
}

}  // namespace headrace
