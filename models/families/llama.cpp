// Llama, Mistral and Qwen2: rotary positions, RMS norm, gated feed-forward, grouped key-value
// heads.
#include <algorithm>

#include <fmt/format.h>

#include "models/families/transformer_checks.h"
#include "models/family.h"
#include "models/foreign_config.h"

namespace headrace {
namespace {

// A sliding window shorter than the sequence would cut attention, which our layers do not do.
std::int64_t longest_sequence(const ModelSpec& spec) {
  const std::int64_t window = size_of(spec, "sliding_window");
  const std::int64_t positions = size_of(spec, "max_positions");
  return window == 0 ? positions : std::min(window, positions);
}

Result<void> finish(ModelSpec& spec) {
  derive(spec, "num_key_value_heads", size_of(spec, "num_heads"));
  if (!has_setting(spec, "head_dim")) {
    if (auto divides = check_divides(spec, "num_heads", "hidden_size"); !divides) return divides;
    derive(spec, "head_dim", size_of(spec, "hidden_size") / size_of(spec, "num_heads"));
  }
  if (size_of(spec, "head_dim") % 2 != 0) {
    return Failure(setting_error(
        spec, "head_dim",
        fmt::format("head_dim {} is odd; rotary positions turn pairs", size_of(spec, "head_dim")),
        "choose an even head_dim"));
  }
  derive(spec, "sequence_length", longest_sequence(spec));
  return check_divides(spec, "num_key_value_heads", "num_heads");
}

std::vector<CountedLayer> layers(const ModelSpec& spec, const MicrobatchShape& shape) {
  const CheckedCount h(size_of(spec, "hidden_size"));
  const CheckedCount i(size_of(spec, "intermediate_size"));
  const CheckedCount head(size_of(spec, "head_dim"));
  const CheckedCount queries = size_of(spec, "num_heads") * head;
  const CheckedCount keys = size_of(spec, "num_key_value_heads") * head;
  const CheckedCount vocabulary(size_of(spec, "vocab_size"));
  const CheckedCount tokens = CheckedCount(shape.micro_batch) * CheckedCount(shape.sequence_length);
  const CheckedCount hidden = tokens * h;
  const CheckedCount table = vocabulary * h;
  const bool tied = flag_of(spec, "tie_embeddings");
  const std::string group = tied ? "embedding" : "";
  const CheckedCount shared = tied ? table : CheckedCount();

  // formats of Hugging Face: 2hnd + 2hkd + 3hi + 2h, and the biases where there are some.
  const CheckedCount matrices = 2 * (h * queries) + 2 * (h * keys) + 3 * (h * i);
  CheckedCount decoder = matrices + 2 * h;
  if (flag_of(spec, "attention_bias")) decoder += queries + 2 * keys;
  if (flag_of(spec, "output_bias")) decoder += h;
  if (flag_of(spec, "mlp_bias")) decoder += 2 * i + h;
  const double decoder_flops =
      matrix_flops(tokens, matrices) + attention_flops(tokens, shape.sequence_length, queries);

  std::vector<CountedLayer> chain;
  chain.push_back({"embedding", "embedding", table, hidden, 0, group, shared});
  for (std::int64_t k = 0; k < size_of(spec, "num_layers"); ++k) {
    chain.push_back({fmt::format("layers.{}", k), "decoder", decoder, hidden, decoder_flops});
  }
  chain.push_back({"norm", "norm", h, hidden, 0});
  chain.push_back(
      {"head", "head", table, tokens * vocabulary, matrix_flops(tokens, table), group, shared});
  return chain;
}

Result<ModelSpec> from_foreign(const ModelSpec& config, const std::string& source) {
  const ForeignConfig theirs(config, source);
  ModelSpec spec;
  const auto required = theirs.require(spec, {{"hidden_size", "hidden_size"},
                                              {"num_layers", "num_hidden_layers"},
                                              {"num_heads", "num_attention_heads"},
                                              {"intermediate_size", "intermediate_size"},
                                              {"vocab_size", "vocab_size"}});
  if (!required) return Failure(required.error());
  theirs.copy(spec, "num_key_value_heads", "num_key_value_heads");
  theirs.copy(spec, "head_dim", "head_dim");
  theirs.copy(spec, "max_positions", "max_position_embeddings");
  theirs.copy(spec, "norm_epsilon", "rms_norm_eps");
  theirs.copy(spec, "rope_theta", "rope_theta");
  theirs.copy(spec, "rope_theta", "rope_parameters.rope_theta");
  theirs.copy(spec, "tie_embeddings", "tie_word_embeddings");

  const bool qwen2 = theirs.text("model_type", "") == "qwen2";
  const bool bias = theirs.flag("attention_bias", false);
  spec.values["attention_bias"] = qwen2 || bias;
  spec.values["output_bias"] = bias;
  theirs.copy(spec, "mlp_bias", "mlp_bias");
  if (!qwen2 || theirs.flag("use_sliding_window", false)) {
    theirs.copy(spec, "sliding_window", "sliding_window");
  }
  if (theirs.text("hidden_act", "silu") != "silu") {
    return Failure(theirs.error(
        "hidden_act",
        fmt::format("the gate of a llama layer is silu, not '{}'", theirs.text("hidden_act", "")),
        "use a configuration with hidden_act silu"));
  }
  return spec;
}

}  // namespace

Family llama_family() {
  return {.name = "llama",
          .settings = {{.name = "hidden_size"},
                       layer_count_setting("num_layers"),
                       {.name = "num_heads"},
                       {.name = "num_key_value_heads", .derived = true},
                       {.name = "head_dim", .derived = true},
                       {.name = "intermediate_size"},
                       {.name = "vocab_size"},
                       {.name = "max_positions", .fallback = std::int64_t{2048}},
                       {.name = "sequence_length", .derived = true},
                       {.name = "sliding_window", .fallback = std::int64_t{0}, .minimum = 0},
                       {.name = "norm_epsilon", .kind = SettingKind::kNumber, .fallback = 1e-5},
                       {.name = "rope_theta", .kind = SettingKind::kNumber, .fallback = 1e4},
                       {.name = "attention_bias", .kind = SettingKind::kFlag, .fallback = false},
                       {.name = "output_bias", .kind = SettingKind::kFlag, .fallback = false},
                       {.name = "mlp_bias", .kind = SettingKind::kFlag, .fallback = false},
                       {.name = "tie_embeddings", .kind = SettingKind::kFlag, .fallback = false}},
          .finish = finish,
          .layers = layers,
          .longest_sequence = longest_sequence,
          .foreign_types = {"llama", "mistral", "qwen2"},
          .from_foreign = from_foreign};
}

}  // namespace headrace
