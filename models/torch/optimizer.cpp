#include "models/torch/optimizer.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include "models/optimizer_facts.h"

namespace headrace {
namespace {

constexpr double kMomentum = 0.9;

}  // namespace

Result<std::unique_ptr<torch::optim::Optimizer>> make_optimizer(
    const std::string& optimizer, double learning_rate, std::vector<torch::Tensor> parameters) {
  if (auto known = optimizer_state_per_parameter(optimizer); !known) return Failure(known.error());
  if (optimizer == "adam") {
    return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                torch::optim::AdamOptions(learning_rate));
  }
  const double momentum = optimizer == "momentum" ? kMomentum : 0.0;
  return std::make_unique<torch::optim::SGD>(
      std::move(parameters), torch::optim::SGDOptions(learning_rate).momentum(momentum));
}

}  // namespace headrace
