#include <cmath>

#include <doctest/doctest.h>
#include <torch/nn/modules/transformerlayer.h>

#include "models/torch/torch_model.h"
#include "tests/support/model_builders.h"

namespace headrace {
namespace {

const TorchModelOptions kOptions{.micro_batch = 2, .seed = 11};

std::shared_ptr<LayerModule> layer(const ModelSpec& spec, const std::string& id,
                                   const TorchModelOptions& options = kOptions) {
  auto made = make_layer(spec, id, options);
  REQUIRE_MESSAGE(made.has_value(), to_string(made.error()));
  return *made;
}

/// Output of the whole chain for `input`.
torch::Tensor run(const ModelSpec& spec, torch::Tensor x) {
  const torch::NoGradGuard no_grad;
  for (const LayerFacts& facts : testing::chain_of(spec)) {
    x = layer(spec, facts.id)->forward(x);
  }
  return x;
}

std::int64_t elements(const LayerModule& module) {
  std::int64_t total = 0;
  for (const torch::Tensor& parameter : module.parameters()) total += parameter.numel();
  return total;
}

/// True when the last position of the input reaches the output of the first.
bool looks_ahead(const ModelSpec& spec) {
  torch::Tensor input = make_microbatch(spec, kOptions, 0).input;
  torch::Tensor other = input.clone();
  other.select(1, -1).copy_(1 - other.select(1, -1).clamp(0, 1));
  return !torch::equal(run(spec, input).select(1, 0), run(spec, other).select(1, 0));
}

}  // namespace

TEST_SUITE_BEGIN("models/torch/torch_model");

TEST_CASE("every layer has the parameters and the output that the catalogue counts") {
  for (const ModelSpec& spec : testing::tiny_models()) {
    const torch::NoGradGuard no_grad;
    torch::Tensor x = make_microbatch(spec, kOptions, 0).input;
    for (const LayerFacts& facts : testing::chain_of(spec)) {
      CAPTURE(spec.name);
      CAPTURE(facts.id);
      const auto module = layer(spec, facts.id);
      CHECK(elements(*module) == facts.parameters);
      x = module->forward(x);
      CHECK(x.numel() == facts.output_elements);
      CHECK(x.isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("tied weights are exposed with their counted size and start equal") {
  for (const ModelSpec& spec : testing::tiny_models()) {
    torch::Tensor first;
    for (const LayerFacts& facts : testing::chain_of(spec)) {
      CAPTURE(facts.id);
      const torch::Tensor tied = layer(spec, facts.id)->tied_weight();
      CHECK(tied.defined() == !facts.tie_group.empty());
      if (!tied.defined()) continue;
      CHECK(tied.numel() == facts.tied_parameters);
      if (first.defined()) CHECK(torch::equal(first, tied));
      first = tied;
    }
  }
}

TEST_CASE("weights depend on seed and layer and on nothing else") {
  const ModelSpec spec = testing::tiny_gpt2();
  const auto weight = [&](const char* id, std::uint64_t seed, int micro_batch) {
    return layer(spec, id, {.micro_batch = micro_batch, .seed = seed})->parameters()[2].clone();
  };
  const torch::Tensor reference = weight("layers.1", 11, 2);
  torch::manual_seed(99);
  CHECK(torch::equal(reference, weight("layers.1", 11, 5)));
  CHECK_FALSE(torch::equal(reference, weight("layers.2", 11, 2)));
  CHECK_FALSE(torch::equal(reference, weight("layers.1", 12, 2)));
}

TEST_CASE("micro-batches repeat by number") {
  for (const ModelSpec& spec : testing::tiny_models()) {
    const Batch batch = make_microbatch(spec, kOptions, 3);
    CHECK(torch::equal(batch.input, make_microbatch(spec, kOptions, 3).input));
    CHECK(torch::equal(batch.target, make_microbatch(spec, kOptions, 3).target));
    CHECK_FALSE(torch::equal(batch.input, make_microbatch(spec, kOptions, 4).input));
  }
}

TEST_CASE("language models attend to the past and encoders to everything") {
  CHECK_FALSE(looks_ahead(testing::tiny_gpt2()));
  CHECK_FALSE(looks_ahead(testing::tiny_llama()));
  CHECK(looks_ahead(testing::tiny_encoder()));
}

TEST_CASE("positions matter to rotary attention") {
  // Without positions the last output would not change when two earlier words change places.
  const ModelSpec spec = testing::tiny_llama();
  torch::Tensor input = make_microbatch(spec, kOptions, 0).input;
  torch::Tensor swapped = input.clone();
  swapped.select(1, 0).copy_(input.select(1, 1));
  swapped.select(1, 1).copy_(input.select(1, 0));
  CHECK_FALSE(torch::allclose(run(spec, input).select(1, -1), run(spec, swapped).select(1, -1)));
}

TEST_CASE("the encoder layer computes what LibTorch's own computes") {
  const ModelSpec spec = testing::tiny_encoder();
  const torch::NoGradGuard no_grad;
  torch::nn::TransformerEncoderLayer theirs(
      torch::nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(32).dropout(0));
  const auto ours = layer(spec, "layers.0");
  const std::vector<std::pair<const char*, const char*>> names = {
      {"joint_weight", "self_attn.in_proj_weight"},
      {"joint_bias", "self_attn.in_proj_bias"},
      {"projection_weight", "self_attn.out_proj.weight"},
      {"projection_bias", "self_attn.out_proj.bias"},
      {"up_weight", "linear1.weight"},
      {"up_bias", "linear1.bias"},
      {"down_weight", "linear2.weight"},
      {"down_bias", "linear2.bias"},
      {"first_norm_gain", "norm1.weight"},
      {"first_norm_bias", "norm1.bias"},
      {"second_norm_gain", "norm2.weight"},
      {"second_norm_bias", "norm2.bias"}};
  CHECK(names.size() == theirs->named_parameters().size());
  for (const auto& [own, other] : names) {
    theirs->named_parameters()[other].copy_(ours->named_parameters()[own]);
  }
  const torch::Tensor x = make_microbatch(spec, kOptions, 0).input;
  const torch::Tensor expected = theirs->forward(x.transpose(0, 1)).transpose(0, 1);
  CHECK(torch::allclose(ours->forward(x), expected, 1e-5, 1e-5));
}

TEST_CASE("cross entropy of the untrained model is near that of guessing") {
  const ModelSpec spec = testing::tiny_llama();
  const Batch batch = make_microbatch(spec, kOptions, 0);
  const double loss = loss_of(spec, run(spec, batch.input), batch.target).item<double>();
  CHECK(loss == doctest::Approx(std::log(1000)).epsilon(0.15));
}

TEST_CASE("the loss of an encoder is the mean squared error") {
  const ModelSpec spec = testing::tiny_encoder();
  const torch::Tensor output = torch::full({2, 5, 16}, 3.0);
  CHECK(loss_of(spec, output, torch::ones({2, 5, 16})).item<double>() == 4.0);
}

TEST_CASE("layers compute in the dtype that was asked for") {
  for (const auto& [name, type] :
       {std::pair{"bf16", torch::kBFloat16}, {"fp64", torch::kFloat64}}) {
    const TorchModelOptions options{.micro_batch = 2, .dtype = name, .seed = 1};
    for (const ModelSpec& spec : testing::tiny_models()) {
      const torch::NoGradGuard no_grad;
      torch::Tensor x = make_microbatch(spec, options, 0).input;
      for (const LayerFacts& facts : testing::chain_of(spec)) {
        x = layer(spec, facts.id, options)->forward(x);
      }
      CHECK(x.scalar_type() == type);
    }
  }
}

TEST_CASE("unknown layers and types are named errors") {
  const auto missing = make_layer(testing::tiny_gpt2(), "layers.3", kOptions);
  REQUIRE_FALSE(missing.has_value());
  CHECK(to_string(missing.error()) ==
        "layers.3: tiny-gpt2 has no layer 'layers.3'\n"
        "  fix: use its 6 layers, embedding to head");
  const auto type = make_layer(testing::tiny_gpt2(), "norm", {.dtype = "int8"});
  REQUIRE_FALSE(type.has_value());
  CHECK(type.error().where == "--dtype");
}

TEST_SUITE_END();

}  // namespace headrace
