// Small models of every family, and the published ones whose parameter counts are known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_spec.h"
#include "models/model_catalogue.h"

namespace headrace::testing {

inline SpecValue whole(std::int64_t value) {
  return SpecValue(value);
}

inline ModelSpec tiny_gpt2() {
  return {.family = "gpt2",
          .name = "tiny-gpt2",
          .values = {{"hidden_size", whole(16)},
                     {"num_layers", whole(3)},
                     {"num_heads", whole(2)},
                     {"vocab_size", whole(50)},
                     {"max_positions", whole(12)},
                     {"sequence_length", whole(6)}}};
}

// The llama configuration of docs/formats.md: 276,032 parameters.
inline ModelSpec tiny_llama() {
  return {.family = "llama",
          .name = "tiny-llama",
          .values = {{"hidden_size", whole(64)},
                     {"num_layers", whole(4)},
                     {"num_heads", whole(4)},
                     {"num_key_value_heads", whole(2)},
                     {"intermediate_size", whole(128)},
                     {"vocab_size", whole(1000)},
                     {"sequence_length", whole(8)}}};
}

inline ModelSpec tiny_encoder() {
  return {.family = "encoder",
          .name = "tiny-encoder",
          .values = {{"hidden_size", whole(16)},
                     {"num_layers", whole(4)},
                     {"num_heads", whole(2)},
                     {"intermediate_size", whole(32)},
                     {"sequence_length", whole(5)}}};
}

inline ModelSpec tiny_bert() {
  return {.family = "bert",
          .name = "tiny-bert",
          .values = {{"hidden_size", whole(16)},
                     {"num_layers", whole(2)},
                     {"num_heads", whole(2)},
                     {"intermediate_size", whole(24)},
                     {"vocab_size", whole(40)},
                     {"max_positions", whole(10)},
                     {"sequence_length", whole(7)}}};
}

inline ModelSpec tiny_mlp() {
  return {.family = "mlp",
          .name = "tiny-mlp",
          .values = {{"input_size", whole(12)},
                     {"hidden_size", whole(20)},
                     {"num_layers", whole(3)},
                     {"num_classes", whole(5)}}};
}

inline ModelSpec tiny_convnet() {
  return {.family = "convnet",
          .name = "tiny-convnet",
          .values = {{"image_size", whole(9)},
                     {"channels", whole(4)},
                     {"num_blocks", whole(5)},
                     {"blocks_per_level", whole(2)},
                     {"num_classes", whole(3)}}};
}

/// One of each family, and the variants whose layers differ.
inline std::vector<ModelSpec> tiny_models() {
  ModelSpec untied = tiny_gpt2();
  untied.name = "tiny-gpt2-untied";
  untied.values["tie_embeddings"] = false;
  ModelSpec biased = tiny_llama();
  biased.name = "tiny-llama-biased";
  for (const char* name : {"attention_bias", "output_bias", "mlp_bias", "tie_embeddings"}) {
    biased.values[name] = true;
  }
  return {tiny_gpt2(),    untied,      tiny_llama(), biased,
          tiny_encoder(), tiny_bert(), tiny_mlp(),   tiny_convnet()};
}

/// The layers of a good spec.
inline std::vector<LayerFacts> chain_of(const ModelSpec& spec, int micro_batch = 2) {
  return layers_of(spec, micro_batch, 0).value();
}

}  // namespace headrace::testing
