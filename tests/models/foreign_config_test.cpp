#include "models/foreign_config.h"

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "models/model_catalogue.h"
#include "models/model_source.h"

namespace headrace {
namespace {

Result<ModelSpec> spec_from(std::string_view text) {
  const auto config = foreign_config_from_json(text, "config.json");
  REQUIRE(config.has_value());
  return spec_from_foreign_config(*config, "a-model", "config.json");
}

std::int64_t parameters_of(std::string_view text) {
  const auto spec = spec_from(text);
  REQUIRE_MESSAGE(spec.has_value(), to_string(spec.error()));
  return parameter_count(*spec).value();
}

std::string refusal(std::string_view text) {
  const auto spec = spec_from(text);
  REQUIRE_FALSE(spec.has_value());
  CHECK(spec.error().code == ErrorCode::kBadInput);
  return to_string(spec.error());
}

}  // namespace

TEST_SUITE_BEGIN("models/foreign_config");

TEST_CASE("published configurations have their published parameter counts") {
  CHECK(parameters_of(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
      "n_positions": 1024, "n_inner": null, "vocab_size": 50257,
      "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05})") == 124439808);
  CHECK(parameters_of(R"({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25,
      "n_positions": 1024, "vocab_size": 50257})") == 1557611200);
  CHECK(parameters_of(R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
      "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 512,
      "type_vocab_size": 2, "vocab_size": 30522, "hidden_act": "gelu"})") == 109482240);
}

TEST_CASE("published llama-like configurations have their published parameter counts") {
  CHECK(parameters_of(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
      "max_position_embeddings": 4096, "vocab_size": 32000,
      "tie_word_embeddings": false})") == 6738415616);
  CHECK(parameters_of(R"({"model_type": "llama", "hidden_size": 5120, "num_hidden_layers": 40,
      "num_attention_heads": 40, "intermediate_size": 13824, "vocab_size": 32000})") ==
        13015864320);
  CHECK(parameters_of(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "rope_theta": 500000.0, "vocab_size": 128256})") == 8030261248);
  CHECK(parameters_of(R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "sliding_window": 4096, "max_position_embeddings": 32768,
      "vocab_size": 32000})") == 7241732096);
}

TEST_CASE("qwen2 has biases on query key and value and ties its head") {
  // Qwen2-0.5B: 494,032,768.
  CHECK(parameters_of(R"({"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
      "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
      "max_position_embeddings": 131072, "sliding_window": 131072, "use_sliding_window": false,
      "tie_word_embeddings": true, "vocab_size": 151936})") == 494032768);
}

TEST_CASE("the language model of a nested configuration is found") {
  CHECK(parameters_of(R"({"model_type": "llama", "text_config": {"hidden_size": 64,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
      "intermediate_size": 128, "vocab_size": 1000}})") == 276032);
}

TEST_CASE("a vision tower is not silently dropped") {
  CHECK(refusal(R"({"model_type": "llama", "vision_config": {"hidden_size": 8}})")
            .find("vision tower") != std::string::npos);
}

TEST_CASE("an unknown model type is refused by name") {
  CHECK(refusal(R"({"model_type": "mixtral"})") ==
        "config.json: /model_type: the model_type 'mixtral' is not known (did you mean "
        "'mistral'?)\n  fix: use one of gpt2, llama, mistral, qwen2, bert, or write a "
        "headrace/model/1 description");
  CHECK(refusal("{}").find("neither a \"schema\" nor a \"model_type\"") != std::string::npos);
}

TEST_CASE("a missing size is named as the file names it") {
  CHECK(refusal(R"({"model_type": "gpt2", "n_embd": 8})") ==
        "config.json: /n_layer: n_layer is missing\n  fix: add n_layer to the configuration");
}

TEST_CASE("an activation function that we do not have is refused") {
  CHECK(refusal(R"({"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 1,
      "n_positions": 8, "vocab_size": 9, "activation_function": "quick_gelu"})")
            .find("'quick_gelu' is not known") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace headrace
