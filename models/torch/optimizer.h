// The optimizers as LibTorch makes them, the same for profiling and for running.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/optim/optimizer.h>

#include "core/result.h"

namespace headrace {

/// `optimizer` is one of `optimizer_names()`. Fails with kUsage on another.
Result<std::unique_ptr<torch::optim::Optimizer>> make_optimizer(
    const std::string& optimizer, double learning_rate, std::vector<torch::Tensor> parameters);

}  // namespace headrace
