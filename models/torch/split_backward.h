// Backward in two halves: I, the gradient of the input that the previous stage waits for, and W,
// the gradients of the weights that nobody waits for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/variable.h>

namespace headrace {

/// What W still needs. Owns the saved inputs of the layers with parameters and the gradients of
/// their outputs, and nothing else of the graph. Its memory is free once it is consumed or dropped.
struct PendingWeightGradient {
  std::vector<torch::autograd::Edge> roots;       ///< Where the halves were cut apart.
  torch::autograd::variable_list gradients;       ///< One for each root.
  std::vector<torch::autograd::Edge> parameters;  ///< Where the results accumulate.
};

/// The first half and the remains.
struct InputGradient {
  at::Tensor input_gradient;  ///< Undefined when the input needs none.
  PendingWeightGradient pending;
};

/// I: the gradient of `input`, a leaf that the graph of `output` was computed from. The graph is
/// cut and released on the way, so neither a whole backward nor a second I can follow. An undefined
/// `output_gradient` stands for ones. Where `input` needs no gradient (the model's first stage)
/// nothing is computed and W is the whole backward.
///
/// The weights' gradients after W are bit-equal to those of a whole backward.
InputGradient input_gradient(const at::Tensor& output, const at::Tensor& output_gradient,
                             const at::Tensor& input, std::span<const at::Tensor> parameters);

/// W: adds to every parameter's gradient.
void weight_gradient(PendingWeightGradient pending);

}  // namespace headrace
