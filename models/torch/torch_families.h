// The table of families as LibTorch builds them; the counterpart of models/families.h.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "models/torch/layer_parts.h"
#include "models/torch/torch_model.h"

namespace headrace {

enum class Loss { kCrossEntropy, kMeanSquaredError };

/// What the random data of one micro-batch depends on.
struct BatchPlace {
  std::int64_t micro_batch = 1;
  std::int64_t sequence_length = 0;
  torch::ScalarType dtype = torch::kFloat32;
  torch::Generator generator;
};

struct TorchFamily {
  std::string_view name;
  std::shared_ptr<LayerModule> (*make_layer)(const ModelSpec& spec, const LayerPlace& place);
  Batch (*make_batch)(const ModelSpec& spec, const BatchPlace& place);
  Loss loss;
};

TorchFamily gpt2_torch_family();
TorchFamily llama_torch_family();
TorchFamily encoder_torch_family();
TorchFamily bert_torch_family();
TorchFamily mlp_torch_family();
TorchFamily convnet_torch_family();

// Data for the families: words, class numbers, standard normal features.
torch::Tensor random_words(const BatchPlace& place, std::int64_t vocabulary);
torch::Tensor random_classes(const BatchPlace& place, std::int64_t classes);
torch::Tensor random_features(const BatchPlace& place, std::initializer_list<std::int64_t> shape);

/// The token table, and the language-model head that may be tied to it.
std::shared_ptr<LayerModule> make_language_head(const ModelSpec& spec, const LayerPlace& place);

/// One nn.TransformerEncoderLayer; reads hidden_size, num_heads, intermediate_size, activation.
std::shared_ptr<LayerModule> make_encoder_layer(const ModelSpec& spec, const LayerPlace& place);

}  // namespace headrace
