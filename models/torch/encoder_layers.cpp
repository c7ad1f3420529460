// The encoder layer of nn.TransformerEncoderLayer (norm last, no dropout) in LibTorch.
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

class EncoderLayer final : public ParameterLayer {
 public:
  EncoderLayer(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        heads_(size_of(spec, "num_heads")),
        activation_(choice_of(spec, "activation")),
        epsilon_(number_of(spec, "norm_epsilon")) {
    const std::int64_t hidden = size_of(spec, "hidden_size");
    const std::int64_t inner = size_of(spec, "intermediate_size");
    joint_ = {parameter("joint_weight", {3 * hidden, hidden}),
              parameter("joint_bias", {3 * hidden})};
    projection_ = {parameter("projection_weight", {hidden, hidden}),
                   parameter("projection_bias", {hidden})};
    first_norm_ = {parameter("first_norm_gain", {hidden}), parameter("first_norm_bias", {hidden})};
    up_ = {parameter("up_weight", {inner, hidden}), parameter("up_bias", {inner})};
    down_ = {parameter("down_weight", {hidden, inner}), parameter("down_bias", {hidden})};
    second_norm_ = {parameter("second_norm_gain", {hidden}),
                    parameter("second_norm_bias", {hidden})};
  }

  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor mixed = self_attention(linear(x, joint_), heads_, false);
    x = layer_norm(x + linear(mixed, projection_), first_norm_, epsilon_);
    const torch::Tensor inner = activate(activation_, linear(x, up_));
    return layer_norm(x + linear(inner, down_), second_norm_, epsilon_);
  }

 private:
  std::int64_t heads_;
  std::string activation_;
  double epsilon_;
  Affine joint_;
  Affine projection_;
  Affine first_norm_;
  Affine up_;
  Affine down_;
  Affine second_norm_;
};

Batch make_encoder_batch(const ModelSpec& spec, const BatchPlace& place) {
  const std::int64_t hidden = size_of(spec, "hidden_size");
  torch::Tensor features = random_features(place, {place.sequence_length, hidden});
  return {features, random_features(place, {place.sequence_length, hidden})};
}

}  // namespace

std::shared_ptr<LayerModule> make_encoder_layer(const ModelSpec& spec, const LayerPlace& place) {
  return std::make_shared<EncoderLayer>(spec, place);
}

TorchFamily encoder_torch_family() {
  return {"encoder", make_encoder_layer, make_encoder_batch, Loss::kMeanSquaredError};
}

}  // namespace headrace
