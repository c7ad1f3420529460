// BERT's embedding and pooler in LibTorch; counted in models/families/bert.cpp.
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

class BertEmbedding final : public ParameterLayer {
 public:
  BertEmbedding(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype), epsilon_(number_of(spec, "norm_epsilon")) {
    const std::int64_t hidden = size_of(spec, "hidden_size");
    words_ = parameter("words", {size_of(spec, "vocab_size"), hidden});
    positions_ = parameter("positions", {size_of(spec, "max_positions"), hidden});
    types_ = parameter("types", {size_of(spec, "type_vocab_size"), hidden});
    norm_ = {parameter("norm_gain", {hidden}), parameter("norm_bias", {hidden})};
  }

  // Every token is of the first type, as for a text that is no pair.
  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor sum =
        at::embedding(words_, x) + positions_.narrow(0, 0, x.size(1)) + types_.narrow(0, 0, 1);
    return layer_norm(sum, norm_, epsilon_);
  }

 private:
  double epsilon_;
  torch::Tensor words_;
  torch::Tensor positions_;
  torch::Tensor types_;
  Affine norm_;
};

class BertPooler final : public ParameterLayer {
 public:
  BertPooler(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        dense_{parameter("weight", {size_of(spec, "hidden_size"), size_of(spec, "hidden_size")}),
               parameter("bias", {size_of(spec, "hidden_size")})} {}

  torch::Tensor forward(torch::Tensor x) override {
    return torch::tanh(linear(x.select(1, 0), dense_));
  }

 private:
  Affine dense_;
};

std::shared_ptr<LayerModule> make_bert_layer(const ModelSpec& spec, const LayerPlace& place) {
  if (place.id == "embedding") return std::make_shared<BertEmbedding>(spec, place);
  if (place.id == "pooler") return std::make_shared<BertPooler>(spec, place);
  return make_encoder_layer(spec, place);
}

Batch make_bert_batch(const ModelSpec& spec, const BatchPlace& place) {
  torch::Tensor words = random_words(place, size_of(spec, "vocab_size"));
  return {words, random_features(place, {size_of(spec, "hidden_size")})};
}

}  // namespace

TorchFamily bert_torch_family() {
  return {"bert", make_bert_layer, make_bert_batch, Loss::kMeanSquaredError};
}

}  // namespace headrace
