// GPT-2's layers in LibTorch; counted in models/families/gpt2.cpp.
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

class Gpt2Embedding final : public ParameterLayer {
 public:
  Gpt2Embedding(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        words_(parameter("words", {size_of(spec, "vocab_size"), size_of(spec, "hidden_size")})),
        positions_(
            parameter("positions", {size_of(spec, "max_positions"), size_of(spec, "hidden_size")})),
        tied_(flag_of(spec, "tie_embeddings")) {}

  torch::Tensor forward(torch::Tensor x) override {
    return at::embedding(words_, x) + positions_.narrow(0, 0, x.size(1));
  }
  [[nodiscard]] torch::Tensor tied_weight() const override {
    return tied_ ? words_ : torch::Tensor();
  }

 private:
  torch::Tensor words_;
  torch::Tensor positions_;
  bool tied_;
};

class Gpt2Decoder final : public ParameterLayer {
 public:
  Gpt2Decoder(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        heads_(size_of(spec, "num_heads")),
        activation_(choice_of(spec, "activation")),
        epsilon_(number_of(spec, "norm_epsilon")) {
    const std::int64_t hidden = size_of(spec, "hidden_size");
    const std::int64_t inner = size_of(spec, "intermediate_size");
    first_norm_ = {parameter("first_norm_gain", {hidden}), parameter("first_norm_bias", {hidden})};
    joint_ = {parameter("joint_weight", {3 * hidden, hidden}),
              parameter("joint_bias", {3 * hidden})};
    projection_ = {parameter("projection_weight", {hidden, hidden}),
                   parameter("projection_bias", {hidden})};
    second_norm_ = {parameter("second_norm_gain", {hidden}),
                    parameter("second_norm_bias", {hidden})};
    up_ = {parameter("up_weight", {inner, hidden}), parameter("up_bias", {inner})};
    down_ = {parameter("down_weight", {hidden, inner}), parameter("down_bias", {hidden})};
  }

  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor joint = linear(layer_norm(x, first_norm_, epsilon_), joint_);
    x = x + linear(self_attention(joint, heads_, true), projection_);
    const torch::Tensor inner = linear(layer_norm(x, second_norm_, epsilon_), up_);
    return x + linear(activate(activation_, inner), down_);
  }

 private:
  std::int64_t heads_;
  std::string activation_;
  double epsilon_;
  Affine first_norm_;
  Affine joint_;
  Affine projection_;
  Affine second_norm_;
  Affine up_;
  Affine down_;
};

class Gpt2Norm final : public ParameterLayer {
 public:
  Gpt2Norm(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        norm_{parameter("gain", {size_of(spec, "hidden_size")}),
              parameter("bias", {size_of(spec, "hidden_size")})},
        epsilon_(number_of(spec, "norm_epsilon")) {}

  torch::Tensor forward(torch::Tensor x) override { return layer_norm(x, norm_, epsilon_); }

 private:
  Affine norm_;
  double epsilon_;
};

std::shared_ptr<LayerModule> make_gpt2_layer(const ModelSpec& spec, const LayerPlace& place) {
  if (place.id == "embedding") return std::make_shared<Gpt2Embedding>(spec, place);
  if (place.id == "norm") return std::make_shared<Gpt2Norm>(spec, place);
  if (place.id == "head") return make_language_head(spec, place);
  return std::make_shared<Gpt2Decoder>(spec, place);
}

Batch make_gpt2_batch(const ModelSpec& spec, const BatchPlace& place) {
  const std::int64_t vocabulary = size_of(spec, "vocab_size");
  torch::Tensor words = random_words(place, vocabulary);
  return {words, random_words(place, vocabulary)};
}

}  // namespace

TorchFamily gpt2_torch_family() {
  return {"gpt2", make_gpt2_layer, make_gpt2_batch, Loss::kCrossEntropy};
}

}  // namespace headrace
