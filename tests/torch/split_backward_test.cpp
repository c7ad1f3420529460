#include "models/torch/split_backward.h"

#include <ATen/Parallel.h>
#include <doctest/doctest.h>
#include <torch/csrc/autograd/autograd.h>

#include "models/torch/torch_model.h"
#include "tests/support/model_builders.h"

namespace headrace {
namespace {

const TorchModelOptions kSplitOptions{.micro_batch = 2, .seed = 5};

/// Layers [first, last) of a model as one stage, and what goes in.
struct Stage {
  std::vector<std::shared_ptr<LayerModule>> layers;
  std::vector<torch::Tensor> parameters;
  torch::Tensor input;

  [[nodiscard]] torch::Tensor forward(torch::Tensor x) const {
    for (const auto& layer : layers) x = layer->forward(x);
    return x;
  }
  void clear_gradients() const {
    for (const torch::Tensor& parameter : parameters) parameter.mutable_grad() = torch::Tensor();
  }
  [[nodiscard]] std::vector<torch::Tensor> gradients() const {
    std::vector<torch::Tensor> all;
    for (const torch::Tensor& parameter : parameters) all.push_back(parameter.grad().clone());
    return all;
  }
};

Stage make_stage(const ModelSpec& spec, std::size_t first, std::size_t last) {
  const torch::NoGradGuard no_grad;
  Stage stage;
  torch::Tensor x = make_microbatch(spec, kSplitOptions, 0).input;
  const auto chain = testing::chain_of(spec);
  for (std::size_t k = 0; k < last; ++k) {
    auto layer = make_layer(spec, chain[k].id, kSplitOptions).value();
    if (k < first) {
      x = layer->forward(x);
      continue;
    }
    for (const auto& parameter : layer->parameters()) stage.parameters.push_back(parameter);
    stage.layers.push_back(std::move(layer));
  }
  stage.input = x;
  return stage;
}

struct Gradients {
  torch::Tensor input;
  std::vector<torch::Tensor> weights;
};

torch::Tensor leaf(const Stage& stage) {
  return stage.input.detach().clone().requires_grad_();
}

Gradients whole(const Stage& stage, const torch::Tensor& output_gradient) {
  stage.clear_gradients();
  const torch::Tensor x = leaf(stage);
  torch::autograd::backward({stage.forward(x)}, {output_gradient});
  return {x.grad(), stage.gradients()};
}

Gradients halves(const Stage& stage, const torch::Tensor& output_gradient) {
  stage.clear_gradients();
  const torch::Tensor x = leaf(stage);
  InputGradient first = input_gradient(stage.forward(x), output_gradient, x, stage.parameters);
  for (const torch::Tensor& parameter : stage.parameters) CHECK_FALSE(parameter.grad().defined());
  weight_gradient(std::move(first.pending));
  return {first.input_gradient, stage.gradients()};
}

void check_bit_equal(const Gradients& a, const Gradients& b) {
  CHECK(torch::equal(a.input, b.input));
  REQUIRE(a.weights.size() == b.weights.size());
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    CAPTURE(i);
    CHECK(torch::equal(a.weights[i], b.weights[i]));
  }
}

}  // namespace

TEST_SUITE_BEGIN("models/torch/split_backward");

TEST_CASE("both halves together are bit-equal to the whole in every family") {
  at::set_num_threads(1);
  for (const ModelSpec& spec : testing::tiny_models()) {
    const std::size_t layers = testing::chain_of(spec).size();
    for (std::size_t last = 2; last <= layers; ++last) {
      CAPTURE(spec.name);
      CAPTURE(last);
      const Stage stage = make_stage(spec, 1, last);  // Every stage that is not the first.
      const torch::Tensor gradient = torch::randn_like(stage.forward(stage.input));
      check_bit_equal(whole(stage, gradient), halves(stage, gradient));
    }
  }
}

TEST_CASE("an undefined output gradient stands for one") {
  const ModelSpec spec = testing::tiny_mlp();
  const Stage stage = make_stage(spec, 1, 4);
  const torch::Tensor target = make_microbatch(spec, kSplitOptions, 0).target;
  stage.clear_gradients();
  loss_of(spec, stage.forward(stage.input), target).backward();
  const auto expected = stage.gradients();
  stage.clear_gradients();
  const torch::Tensor x = leaf(stage);
  weight_gradient(
      input_gradient(loss_of(spec, stage.forward(x), target), {}, x, stage.parameters).pending);
  const auto found = stage.gradients();
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(torch::equal(found[i], expected[i]));
}

TEST_CASE("the first stage has no first half and its second is the whole") {
  const Stage stage = make_stage(testing::tiny_gpt2(), 0, 3);
  const torch::Tensor gradient = torch::randn({2, 6, 16});
  stage.clear_gradients();
  torch::autograd::backward({stage.forward(stage.input)}, {gradient});
  const auto expected = stage.gradients();
  stage.clear_gradients();
  InputGradient first =
      input_gradient(stage.forward(stage.input), gradient, stage.input, stage.parameters);
  CHECK_FALSE(first.input_gradient.defined());
  weight_gradient(std::move(first.pending));
  const auto found = stage.gradients();
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(torch::equal(found[i], expected[i]));
}

TEST_CASE("second halves accumulate over micro-batches in any order") {
  const Stage stage = make_stage(testing::tiny_encoder(), 1, 3);
  const torch::Tensor gradient = torch::ones({2, 5, 16});
  const Gradients once = whole(stage, gradient);
  stage.clear_gradients();
  std::vector<PendingWeightGradient> pending;
  for (int microbatch = 0; microbatch < 3; ++microbatch) {
    const torch::Tensor x = leaf(stage);
    pending.push_back(input_gradient(stage.forward(x), gradient, x, stage.parameters).pending);
  }
  while (!pending.empty()) {
    weight_gradient(std::move(pending.back()));
    pending.pop_back();
  }
  for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
    CHECK(torch::allclose(stage.parameters[i].grad(), 3 * once.weights[i], 1e-5, 1e-6));
  }
}

TEST_CASE("frozen parameters are left alone") {
  const Stage stage = make_stage(testing::tiny_mlp(), 1, 3);
  stage.clear_gradients();
  stage.parameters[0].set_requires_grad(false);
  const torch::Tensor x = leaf(stage);
  weight_gradient(
      input_gradient(stage.forward(x), torch::ones({2, 20}), x, stage.parameters).pending);
  CHECK_FALSE(stage.parameters[0].grad().defined());
  CHECK(stage.parameters[1].grad().defined());
}

TEST_CASE("what the second half does not need is free after the first") {
  // GELU's saved input and the attention's tensors belong to no weight.
  const Stage stage = make_stage(testing::tiny_gpt2(), 1, 2);
  torch::Tensor x = leaf(stage);
  torch::Tensor y = stage.forward(x);
  const std::weak_ptr<torch::autograd::Node> output_node = y.grad_fn();
  InputGradient first = input_gradient(y, torch::ones_like(y), x, stage.parameters);
  y = torch::Tensor();
  CHECK(output_node.expired());
  CHECK(first.pending.roots.size() > 0);
}

TEST_SUITE_END();

}  // namespace headrace
