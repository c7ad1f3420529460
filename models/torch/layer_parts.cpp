#include "models/torch/layer_parts.h"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/utils.h>

#include "core/check.h"

namespace headrace {
namespace {

constexpr double kBiasSpread = 0.02;

// FNV-1a, then the finalizer of splitmix64: neighbouring names get unrelated streams.
std::uint64_t stream_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

bool is_bias(const std::string& name) {
  constexpr std::string_view kSuffix = "bias";
  return name.size() >= kSuffix.size() &&
         name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
}

}  // namespace

torch::Tensor ParameterLayer::parameter(const std::string& name,
                                        std::initializer_list<std::int64_t> shape) {
  return register_parameter(name, torch::empty(shape, dtype_));
}

torch::Tensor ParameterLayer::constant(const std::string& name, const torch::Tensor& value) {
  return register_buffer(name, value.to(dtype_));
}

torch::Generator seeded_generator(std::uint64_t seed, std::string_view name) {
  return at::detail::createCPUGenerator(stream_of(seed, name));
}

void initialise(LayerModule& layer, const std::string& layer_id, const std::string& tie_group,
                std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor tied = layer.tied_weight();
  for (auto& item : layer.named_parameters()) {
    torch::Tensor& value = item.value();
    const bool is_tied = tied.defined() && tied.is_same(value);
    const std::string stream = is_tied ? "tie/" + tie_group : layer_id + "/" + item.key();
    const torch::Generator generator = seeded_generator(seed, stream);
    if (value.dim() > 1) {
      const auto fan_in = static_cast<double>(value.numel() / value.size(0));
      value.normal_(0, 1 / std::sqrt(fan_in), generator);
    } else if (is_bias(item.key())) {
      value.normal_(0, kBiasSpread, generator);
    } else {
      value.fill_(1);
    }
  }
}

torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, x.size(-1) / heads}).transpose(1, 2);
}

torch::Tensor merge_heads(const torch::Tensor& x) {
  return x.transpose(1, 2).flatten(2);
}

torch::Tensor attention(const torch::Tensor& queries, const torch::Tensor& keys,
                        const torch::Tensor& values, bool causal) {
  return at::scaled_dot_product_attention(queries, keys, values, {}, 0.0, causal);
}

torch::Tensor self_attention(const torch::Tensor& projected, std::int64_t heads, bool causal) {
  const auto parts = projected.chunk(3, -1);
  return merge_heads(attention(split_heads(parts[0], heads), split_heads(parts[1], heads),
                               split_heads(parts[2], heads), causal));
}

torch::Tensor activate(const std::string& function, const torch::Tensor& x) {
  if (function == "relu") return torch::relu(x);
  if (function == "gelu") return at::gelu(x, "none");
  if (function == "gelu_tanh") return at::gelu(x, "tanh");
  HEADRACE_CHECK(function == "silu", "a checked spec names a known activation: " + function);
  return at::silu(x);
}

torch::Tensor linear(const torch::Tensor& x, const Affine& affine) {
  return at::linear(x, affine.weight, affine.bias);
}

torch::Tensor layer_norm(const torch::Tensor& x, const Affine& affine, double epsilon) {
  return at::layer_norm(x, affine.weight.sizes(), affine.weight, affine.bias, epsilon);
}

}  // namespace headrace
