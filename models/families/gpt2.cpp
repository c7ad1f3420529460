// GPT-2: learned positions, norm first, biases everywhere, head tied to the embedding.
#include <fmt/format.h>

#include "models/families/transformer_checks.h"
#include "models/family.h"
#include "models/foreign_config.h"

namespace headrace {
namespace {

Result<void> finish(ModelSpec& spec) {
  derive(spec, "intermediate_size", 4 * size_of(spec, "hidden_size"));
  derive(spec, "sequence_length", size_of(spec, "max_positions"));
  return check_divides(spec, "num_heads", "hidden_size");
}

std::vector<CountedLayer> layers(const ModelSpec& spec, const MicrobatchShape& shape) {
  const CheckedCount h(size_of(spec, "hidden_size"));
  const CheckedCount i(size_of(spec, "intermediate_size"));
  const CheckedCount vocabulary(size_of(spec, "vocab_size"));
  const CheckedCount positions(size_of(spec, "max_positions"));
  const CheckedCount tokens = CheckedCount(shape.micro_batch) * CheckedCount(shape.sequence_length);
  const CheckedCount hidden = tokens * h;
  const bool tied = flag_of(spec, "tie_embeddings");
  const std::string group = tied ? "embedding" : "";
  const CheckedCount table = vocabulary * h;
  const CheckedCount shared = tied ? table : CheckedCount();

  // qkv 3h^2 + 3h, projection h^2 + h, feed-forward 2hi + i + h, two norms 4h.
  const CheckedCount decoder = 4 * (h * h) + 2 * (h * i) + i + 9 * h;
  const double decoder_flops = matrix_flops(tokens, 4 * (h * h) + 2 * (h * i)) +
                               attention_flops(tokens, shape.sequence_length, h);
  std::vector<CountedLayer> chain;
  chain.push_back({"embedding", "embedding", table + positions * h, hidden, 0, group, shared});
  for (std::int64_t k = 0; k < size_of(spec, "num_layers"); ++k) {
    chain.push_back({fmt::format("layers.{}", k), "decoder", decoder, hidden, decoder_flops});
  }
  chain.push_back({"norm", "norm", 2 * h, hidden, 0});
  chain.push_back(
      {"head", "head", table, tokens * vocabulary, matrix_flops(tokens, table), group, shared});
  return chain;
}

std::int64_t longest_sequence(const ModelSpec& spec) {
  return size_of(spec, "max_positions");
}

Result<ModelSpec> from_foreign(const ModelSpec& config, const std::string& source) {
  const ForeignConfig theirs(config, source);
  ModelSpec spec;
  const auto required = theirs.require(spec, {{"hidden_size", "n_embd"},
                                              {"num_layers", "n_layer"},
                                              {"num_heads", "n_head"},
                                              {"max_positions", "n_positions"},
                                              {"vocab_size", "vocab_size"}});
  if (!required) return Failure(required.error());
  theirs.copy(spec, "intermediate_size", "n_inner");
  theirs.copy(spec, "norm_epsilon", "layer_norm_epsilon");
  theirs.copy(spec, "tie_embeddings", "tie_word_embeddings");
  auto done = theirs.activation(spec, "activation", "activation_function", "gelu_new");
  if (!done) return Failure(done.error());
  return spec;
}

}  // namespace

Family gpt2_family() {
  return {.name = "gpt2",
          .settings = {{.name = "hidden_size"},
                       layer_count_setting("num_layers"),
                       {.name = "num_heads"},
                       {.name = "vocab_size"},
                       {.name = "max_positions"},
                       {.name = "intermediate_size", .derived = true},
                       {.name = "sequence_length", .derived = true},
                       activation_setting("gelu_tanh"),
                       {.name = "norm_epsilon", .kind = SettingKind::kNumber, .fallback = 1e-5},
                       {.name = "tie_embeddings", .kind = SettingKind::kFlag, .fallback = true}},
          .finish = finish,
          .layers = layers,
          .longest_sequence = longest_sequence,
          .foreign_types = {"gpt2"},
          .from_foreign = from_foreign};
}

}  // namespace headrace
