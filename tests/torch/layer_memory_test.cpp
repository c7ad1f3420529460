#include "profiler/cpu/layer_memory.h"

#include <doctest/doctest.h>

#include "models/torch/layer_parts.h"
#include "profiler/cpu/allocation_log.h"
#include "profiler/cpu/saved_tensors.h"
#include "tests/support/model_builders.h"

namespace headrace {
namespace {

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kIn = 8;
constexpr std::int64_t kOut = 20;

/// One operation as a layer.
class Operation final : public ParameterLayer {
 public:
  using Function = std::function<torch::Tensor(torch::Tensor x, const Affine& affine)>;
  Operation(std::int64_t in, std::int64_t out, Function function)
      : ParameterLayer(torch::kFloat32),
        affine_{parameter("weight", {out, in}), parameter("bias", {out})},
        function_(std::move(function)) {
    initialise(*this, "operation", "", 1);
  }
  torch::Tensor forward(torch::Tensor x) override { return function_(x, affine_); }

 private:
  Affine affine_;
  Function function_;
};

LayerMemory memory_of(const Operation::Function& function) {
  install_saved_tensor_hooks();
  Operation operation(kIn, kOut, function);
  return measure_memory({.layer = &operation, .input = torch::randn({kBatch, kIn})});
}

constexpr Bytes floats(std::int64_t count) {
  return Bytes(4 * count);
}

}  // namespace

TEST_SUITE_BEGIN("profiler/cpu/layer_memory");

TEST_CASE("a linear layer saves its input alone") {
  const auto memory = memory_of([](torch::Tensor x, const Affine& a) { return linear(x, a); });
  CHECK(memory.saved_activation == floats(kBatch * kIn));
  CHECK(memory.output == floats(kBatch * kOut));
}

TEST_CASE("between its halves a linear layer holds its input and its output's gradient") {
  const auto memory = memory_of([](torch::Tensor x, const Affine& a) { return linear(x, a); });
  CHECK(memory.deferred_weight_grad == floats(kBatch * kIn + kBatch * kOut));
}

TEST_CASE("gelu saves its input and relu saves its output which is not the layer's to count") {
  const auto gelu = memory_of([](torch::Tensor x, const Affine&) { return torch::gelu(x); });
  CHECK(gelu.saved_activation == floats(kBatch * kIn));
  const auto relu = memory_of([](torch::Tensor x, const Affine&) { return torch::relu(x); });
  CHECK(relu.saved_activation == floats(kBatch * kIn));
}

TEST_CASE("a layer norm saves its input and two numbers a row") {
  const auto memory =
      memory_of([](torch::Tensor x, const Affine&) { return at::layer_norm(x, {kIn}); });
  CHECK(memory.saved_activation == floats(kBatch * kIn + 2 * kBatch));
}

TEST_CASE("a tensor in the middle counts once however many operations save it") {
  const auto memory = memory_of([](torch::Tensor x, const Affine& a) {
    const torch::Tensor middle = linear(x, a);
    return torch::gelu(middle) + torch::gelu(middle) + torch::sin(middle);
  });
  CHECK(memory.saved_activation == floats(kBatch * kIn + kBatch * kOut));
}

TEST_CASE("workspace holds output and gradients and the weights' new gradient") {
  const auto memory = memory_of([](torch::Tensor x, const Affine& a) { return linear(x, a); });
  // In backward: output, its gradient, the weight's and the input's new gradient, each once.
  CHECK(memory.workspace >= floats(2 * kBatch * kOut + kIn * kOut));
  CHECK(memory.workspace <= floats(3 * kBatch * kOut + 2 * kIn * kOut + 2 * kBatch * kIn + kOut));
}

TEST_CASE("the sum over layers is what a whole stage keeps alive") {
  // Independent of the hooks: the bytes the allocator still has when only the graph is held.
  install_saved_tensor_hooks();
  for (const ModelSpec& spec : testing::tiny_models()) {
    CAPTURE(spec.name);
    const TorchModelOptions options{.micro_batch = 2, .seed = 3};
    const auto chain = testing::chain_of(spec);
    std::vector<std::shared_ptr<LayerModule>> layers;
    std::int64_t sum = 0;
    torch::Tensor x = make_microbatch(spec, options, 0).input;
    for (std::size_t k = 0; k < 3; ++k) {
      layers.push_back(make_layer(spec, chain[k].id, options).value());
      sum += measure_memory({.layer = layers[k].get(), .input = x, .needs_input_gradient = k > 0})
                 .saved_activation.value();
      const torch::NoGradGuard no_grad;
      x = layers[k]->forward(x);
    }
    const AllocationLog log;
    torch::Tensor input = make_microbatch(spec, options, 0).input.clone();
    torch::Tensor output = input;
    for (const auto& layer : layers) output = layer->forward(output);
    const auto graph = output.grad_fn();
    const std::int64_t own = static_cast<std::int64_t>(output.storage().nbytes());
    const std::int64_t with_output = log.current();
    output = torch::Tensor();
    const bool output_is_saved = log.current() == with_output;
    CHECK(sum == log.current() - (output_is_saved ? own : 0));
  }
}

TEST_SUITE_END();

}  // namespace headrace
