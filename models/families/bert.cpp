// BERT without a task head: embeddings with their norm, encoder layers, pooler of the first token.
#include <fmt/format.h>

#include "models/families/encoder_layer.h"
#include "models/families/transformer_checks.h"
#include "models/family.h"
#include "models/foreign_config.h"

namespace headrace {
namespace {

Result<void> finish(ModelSpec& spec) {
  derive(spec, "sequence_length", size_of(spec, "max_positions"));
  return check_divides(spec, "num_heads", "hidden_size");
}

std::vector<CountedLayer> layers(const ModelSpec& spec, const MicrobatchShape& shape) {
  const CheckedCount h(size_of(spec, "hidden_size"));
  const CheckedCount rows(size_of(spec, "vocab_size") + size_of(spec, "max_positions") +
                          size_of(spec, "type_vocab_size"));
  const CheckedCount batch(shape.micro_batch);
  std::vector<CountedLayer> chain;
  chain.push_back({"embedding", "embedding", rows * h + 2 * h,
                   batch * CheckedCount(shape.sequence_length) * h, 0});
  for (std::int64_t k = 0; k < size_of(spec, "num_layers"); ++k) {
    chain.push_back(encoder_layer(fmt::format("layers.{}", k), spec, shape));
  }
  chain.push_back({"pooler", "pooler", h * h + h, batch * h, matrix_flops(batch, h * h)});
  return chain;
}

std::int64_t longest_sequence(const ModelSpec& spec) {
  return size_of(spec, "max_positions");
}

Result<ModelSpec> from_foreign(const ModelSpec& config, const std::string& source) {
  const ForeignConfig theirs(config, source);
  ModelSpec spec;
  const auto required = theirs.require(spec, {{"hidden_size", "hidden_size"},
                                              {"num_layers", "num_hidden_layers"},
                                              {"num_heads", "num_attention_heads"},
                                              {"intermediate_size", "intermediate_size"},
                                              {"max_positions", "max_position_embeddings"},
                                              {"vocab_size", "vocab_size"}});
  if (!required) return Failure(required.error());
  theirs.copy(spec, "type_vocab_size", "type_vocab_size");
  theirs.copy(spec, "norm_epsilon", "layer_norm_eps");
  auto done = theirs.activation(spec, "activation", "hidden_act", "gelu");
  if (!done) return Failure(done.error());
  return spec;
}

}  // namespace

Family bert_family() {
  return {.name = "bert",
          .settings = {{.name = "hidden_size"},
                       layer_count_setting("num_layers"),
                       {.name = "num_heads"},
                       {.name = "intermediate_size"},
                       {.name = "vocab_size"},
                       {.name = "max_positions"},
                       {.name = "type_vocab_size", .fallback = std::int64_t{2}},
                       {.name = "sequence_length", .derived = true},
                       activation_setting("gelu"),
                       {.name = "norm_epsilon", .kind = SettingKind::kNumber, .fallback = 1e-12}},
          .finish = finish,
          .layers = layers,
          .longest_sequence = longest_sequence,
          .foreign_types = {"bert"},
          .from_foreign = from_foreign};
}

}  // namespace headrace
