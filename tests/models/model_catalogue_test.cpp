#include "models/model_catalogue.h"

#include <doctest/doctest.h>

#include "tests/support/model_builders.h"

namespace headrace {
namespace {

using testing::whole;

std::vector<std::string> ids_of(const ModelSpec& spec) {
  std::vector<std::string> ids;
  for (const LayerFacts& layer : testing::chain_of(spec, 1)) ids.push_back(layer.id);
  return ids;
}

std::string refusal(const ModelSpec& spec) {
  const auto layers = layers_of(spec, 1, 0);
  REQUIRE_FALSE(layers.has_value());
  return to_string(layers.error());
}

}  // namespace

TEST_SUITE_BEGIN("models/model_catalogue");

TEST_CASE("layers come in the order data flows") {
  CHECK(ids_of(testing::tiny_gpt2()) ==
        std::vector<std::string>{"embedding", "layers.0", "layers.1", "layers.2", "norm", "head"});
  CHECK(ids_of(testing::tiny_bert()) ==
        std::vector<std::string>{"embedding", "layers.0", "layers.1", "pooler"});
  CHECK(ids_of(testing::tiny_encoder()).front() == "layers.0");
  CHECK(ids_of(testing::tiny_convnet()).front() == "stem");
}

TEST_CASE("the llama test configuration has 36992 parameters to a layer and 276032 in all") {
  CHECK(parameter_count(testing::tiny_llama()).value() == 276032);
  CHECK(layers_of(testing::tiny_llama(), 1, 0).value()[1].parameters == 36992);
}

TEST_CASE("four encoder layers of width 512 have 12609536 parameters") {
  const ModelSpec spec{.family = "encoder",
                       .name = {},
                       .values = {{"hidden_size", whole(512)},
                                  {"num_layers", whole(4)},
                                  {"num_heads", whole(8)},
                                  {"intermediate_size", whole(2048)},
                                  {"sequence_length", whole(10)}}};
  CHECK(parameter_count(spec).value() == 12609536);
  CHECK(layers_of(spec, 4, 0).value()[0].output_elements == 4 * 10 * 512);
}

TEST_CASE("a tied table counts once for the model and in full for each layer") {
  // Case O12: vocabulary 50,000 x hidden 2,000; the head repeats the table's 100 M.
  ModelSpec spec = testing::tiny_gpt2();
  spec.values["vocab_size"] = whole(50000);
  spec.values["hidden_size"] = whole(2000);
  const std::int64_t tied = parameter_count(spec).value();
  const auto layers = layers_of(spec, 1, 0).value();
  CHECK(layers.front().tie_group == layers.back().tie_group);
  CHECK(layers.back().parameters == 100000000);
  CHECK(layers.front().tied_parameters == 100000000);
  spec.values["tie_embeddings"] = false;
  CHECK(parameter_count(spec).value() == tied + 100000000);
  CHECK(layers_of(spec, 1, 0).value().back().tie_group.empty());
}

TEST_CASE("equal layers have equal keys and others do not") {
  const auto layers = layers_of(testing::tiny_convnet(), 2, 0).value();
  CHECK(layers[2].same_as_key != layers[3].same_as_key);  // The third block halves.
  const auto decoders = layers_of(testing::tiny_llama(), 2, 0).value();
  CHECK(decoders[1].same_as_key == decoders[4].same_as_key);
  CHECK(decoders[0].same_as_key != decoders[1].same_as_key);
}

TEST_CASE("forward operations are two for every multiply-add") {
  // 3 tokens: attention projections 4 h^2, feed-forward 2 h i, scores and sums 4 s h a token.
  const auto layers = layers_of(testing::tiny_encoder(), 1, 3).value();
  CHECK(layers[0].forward_flops == Flops(2.0 * 3 * (4 * 256 + 2 * 512) + 4.0 * 3 * 3 * 16));
}

TEST_CASE("an unknown family is refused with what was probably meant") {
  CHECK(refusal({.family = "lama", .name = "m", .values = {}}) ==
        "m: /family: there is no model family 'lama' (did you mean 'llama'?)\n"
        "  fix: use one of gpt2, llama, encoder, bert, mlp, convnet");
}

TEST_CASE("heads must divide the hidden size") {
  ModelSpec spec = testing::tiny_encoder();
  spec.values["num_heads"] = whole(3);
  CHECK(refusal(spec) ==
        "tiny-encoder: /num_heads: num_heads 3 does not divide hidden_size 16: 1 are left over\n"
        "  fix: choose num_heads so that hidden_size is a multiple of it");
}

TEST_CASE("counts beyond 63 bits are refused") {
  ModelSpec spec = testing::tiny_mlp();
  spec.values["input_size"] = whole(2147483647);
  spec.values["hidden_size"] = whole(2147483647);
  spec.values["num_layers"] = whole(4);
  CHECK(refusal(spec).find("more than 2^63") != std::string::npos);
}

TEST_CASE("an image that is halved away is refused") {
  ModelSpec spec = testing::tiny_convnet();
  spec.values["num_blocks"] = whole(40);
  CHECK(refusal(spec).find("halved 19 times by 40 blocks") != std::string::npos);
}

TEST_CASE("the sequence is the asked one or the model's own and fits its positions") {
  CHECK(sequence_length_of(testing::tiny_gpt2(), 0).value() == 6);
  CHECK(sequence_length_of(testing::tiny_gpt2(), 12).value() == 12);
  CHECK(sequence_length_of(testing::tiny_mlp(), 0).value() == 0);
  const auto longer = sequence_length_of(testing::tiny_gpt2(), 13);
  REQUIRE_FALSE(longer.has_value());
  CHECK(longer.error().what == "a sequence of 13 is longer than the 12 positions of tiny-gpt2");
  CHECK(sequence_length_of(testing::tiny_mlp(), 4).error().code == ErrorCode::kUsage);
}

TEST_CASE("a sliding window limits the sequence that full attention may stand for") {
  ModelSpec spec = testing::tiny_llama();
  spec.values["sliding_window"] = whole(32);
  CHECK(sequence_length_of(spec, 32).has_value());
  CHECK_FALSE(sequence_length_of(spec, 33).has_value());
}

TEST_CASE("a micro-batch without samples is a usage error") {
  CHECK(layers_of(testing::tiny_mlp(), 0, 0).error().code == ErrorCode::kUsage);
}

TEST_SUITE_END();

}  // namespace headrace
