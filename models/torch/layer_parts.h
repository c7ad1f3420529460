// What the families' layers are made of: seeded parameters, attention, activation functions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/model_spec.h"
#include "models/torch/torch_model.h"

namespace headrace {

/// Which layer is built, for which shapes.
struct LayerPlace {
  std::string id;
  std::int64_t index = 0;  ///< k of "layers.k".
  std::int64_t sequence_length = 0;
  torch::ScalarType dtype = torch::kFloat32;
};

/// A layer whose parameters are plain tensors, left uninitialised until `initialise`.
class ParameterLayer : public LayerModule {
 public:
  explicit ParameterLayer(torch::ScalarType dtype) : dtype_(dtype) {}

 protected:
  torch::Tensor parameter(const std::string& name, std::initializer_list<std::int64_t> shape);
  torch::Tensor constant(const std::string& name, const torch::Tensor& value);

 private:
  torch::ScalarType dtype_;
};

/// A weight and, where the layer has one, a bias.
struct Affine {
  torch::Tensor weight;
  torch::Tensor bias;  ///< Undefined where there is none.
};

/// Gives every parameter its value: weights normal with variance 1 / fan-in, gains of norms one,
/// biases small. The stream of a parameter is chosen by seed, layer id and name, of a tied one by
/// seed and `tie_group`.
void initialise(LayerModule& layer, const std::string& layer_id, const std::string& tie_group,
                std::uint64_t seed);

/// A random stream of its own for `name`.
torch::Generator seeded_generator(std::uint64_t seed, std::string_view name);

/// Attention of [batch, sequence, heads x size] tensors; queries may have more heads than keys.
torch::Tensor attention(const torch::Tensor& queries, const torch::Tensor& keys,
                        const torch::Tensor& values, bool causal);

/// [batch, sequence, heads x size] -> [batch, heads, sequence, size].
torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads);

/// The inverse of `split_heads`.
torch::Tensor merge_heads(const torch::Tensor& x);

/// Self attention of the joint projection [batch, sequence, 3 x hidden].
torch::Tensor self_attention(const torch::Tensor& projected, std::int64_t heads, bool causal);

/// "relu", "gelu", "gelu_tanh" or "silu".
torch::Tensor activate(const std::string& function, const torch::Tensor& x);

torch::Tensor linear(const torch::Tensor& x, const Affine& affine);
torch::Tensor layer_norm(const torch::Tensor& x, const Affine& affine, double epsilon);

}  // namespace headrace
