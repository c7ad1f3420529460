// Llama's layers in LibTorch; counted in models/families/llama.cpp.
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

class LlamaEmbedding final : public ParameterLayer {
 public:
  LlamaEmbedding(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        words_(parameter("words", {size_of(spec, "vocab_size"), size_of(spec, "hidden_size")})),
        tied_(flag_of(spec, "tie_embeddings")) {}

  torch::Tensor forward(torch::Tensor x) override { return at::embedding(words_, x); }
  [[nodiscard]] torch::Tensor tied_weight() const override {
    return tied_ ? words_ : torch::Tensor();
  }

 private:
  torch::Tensor words_;
  bool tied_;
};

torch::Tensor root_mean_square_norm(const torch::Tensor& x, const torch::Tensor& gain,
                                    double epsilon) {
  return at::rms_norm(x, gain.sizes(), gain, epsilon);
}

class LlamaDecoder final : public ParameterLayer {
 public:
  LlamaDecoder(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        heads_(size_of(spec, "num_heads")),
        key_heads_(size_of(spec, "num_key_value_heads")),
        epsilon_(number_of(spec, "norm_epsilon")) {
    const std::int64_t hidden = size_of(spec, "hidden_size");
    const std::int64_t inner = size_of(spec, "intermediate_size");
    const std::int64_t head = size_of(spec, "head_dim");
    const bool attention_bias = flag_of(spec, "attention_bias");
    const bool mlp_bias = flag_of(spec, "mlp_bias");
    first_gain_ = parameter("first_norm_gain", {hidden});
    second_gain_ = parameter("second_norm_gain", {hidden});
    query_ = affine("query", heads_ * head, hidden, attention_bias);
    key_ = affine("key", key_heads_ * head, hidden, attention_bias);
    value_ = affine("value", key_heads_ * head, hidden, attention_bias);
    output_ = affine("output", hidden, heads_ * head, flag_of(spec, "output_bias"));
    gate_ = affine("gate", inner, hidden, mlp_bias);
    up_ = affine("up", inner, hidden, mlp_bias);
    down_ = affine("down", hidden, inner, mlp_bias);
    make_rotation(head, place.sequence_length, number_of(spec, "rope_theta"));
  }

  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor normed = root_mean_square_norm(x, first_gain_, epsilon_);
    const torch::Tensor queries = rotate(split_heads(linear(normed, query_), heads_));
    const torch::Tensor keys = rotate(split_heads(linear(normed, key_), key_heads_));
    const torch::Tensor values = split_heads(linear(normed, value_), key_heads_);
    const std::int64_t group = heads_ / key_heads_;
    const torch::Tensor mixed =
        attention(queries, repeat(keys, group), repeat(values, group), true);
    x = x + linear(merge_heads(mixed), output_);
    const torch::Tensor inner = root_mean_square_norm(x, second_gain_, epsilon_);
    return x + linear(at::silu(linear(inner, gate_)) * linear(inner, up_), down_);
  }

 private:
  Affine affine(const std::string& name, std::int64_t rows, std::int64_t columns, bool bias) {
    return {parameter(name + "_weight", {rows, columns}),
            bias ? parameter(name + "_bias", {rows}) : torch::Tensor()};
  }

  // Rotary positions (RoFormer, 3.2.2) in the half-and-half layout of Llama.
  void make_rotation(std::int64_t head, std::int64_t length, double theta) {
    const torch::Tensor exponents = torch::arange(0, head, 2, torch::kFloat64) / head;
    const torch::Tensor rates = torch::pow(theta, -exponents);
    const torch::Tensor angles = torch::outer(torch::arange(length, torch::kFloat64), rates);
    const torch::Tensor both = torch::cat({angles, angles}, -1);
    cosine_ = constant("cosine", both.cos());
    sine_ = constant("sine", both.sin());
  }

  [[nodiscard]] torch::Tensor rotate(const torch::Tensor& x) const {
    const auto halves = x.chunk(2, -1);
    return x * cosine_ + torch::cat({-halves[1], halves[0]}, -1) * sine_;
  }

  static torch::Tensor repeat(const torch::Tensor& x, std::int64_t group) {
    return group == 1 ? x : x.repeat_interleave(group, 1);
  }

  std::int64_t heads_;
  std::int64_t key_heads_;
  double epsilon_;
  torch::Tensor first_gain_;
  torch::Tensor second_gain_;
  Affine query_;
  Affine key_;
  Affine value_;
  Affine output_;
  Affine gate_;
  Affine up_;
  Affine down_;
  torch::Tensor cosine_;
  torch::Tensor sine_;
};

class LlamaNorm final : public ParameterLayer {
 public:
  LlamaNorm(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        gain_(parameter("gain", {size_of(spec, "hidden_size")})),
        epsilon_(number_of(spec, "norm_epsilon")) {}

  torch::Tensor forward(torch::Tensor x) override {
    return root_mean_square_norm(x, gain_, epsilon_);
  }

 private:
  torch::Tensor gain_;
  double epsilon_;
};

std::shared_ptr<LayerModule> make_llama_layer(const ModelSpec& spec, const LayerPlace& place) {
  if (place.id == "embedding") return std::make_shared<LlamaEmbedding>(spec, place);
  if (place.id == "norm") return std::make_shared<LlamaNorm>(spec, place);
  if (place.id == "head") return make_language_head(spec, place);
  return std::make_shared<LlamaDecoder>(spec, place);
}

Batch make_llama_batch(const ModelSpec& spec, const BatchPlace& place) {
  const std::int64_t vocabulary = size_of(spec, "vocab_size");
  torch::Tensor words = random_words(place, vocabulary);
  return {words, random_words(place, vocabulary)};
}

}  // namespace

TorchFamily llama_torch_family() {
  return {"llama", make_llama_layer, make_llama_batch, Loss::kCrossEntropy};
}

}  // namespace headrace
