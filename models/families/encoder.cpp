// A stack of nn.TransformerEncoderLayer: attention and feed-forward, norm last, no embedding.
#include <fmt/format.h>

#include "models/families/encoder_layer.h"
#include "models/families/transformer_checks.h"
#include "models/family.h"

namespace headrace {
namespace {

Result<void> finish(ModelSpec& spec) {
  return check_divides(spec, "num_heads", "hidden_size");
}

std::vector<CountedLayer> layers(const ModelSpec& spec, const MicrobatchShape& shape) {
  std::vector<CountedLayer> chain;
  for (std::int64_t k = 0; k < size_of(spec, "num_layers"); ++k) {
    chain.push_back(encoder_layer(fmt::format("layers.{}", k), spec, shape));
  }
  return chain;
}

std::int64_t longest_sequence(const ModelSpec&) {
  return 0;
}

}  // namespace

CountedLayer encoder_layer(std::string id, const ModelSpec& spec, const MicrobatchShape& shape) {
  const CheckedCount h(size_of(spec, "hidden_size"));
  const CheckedCount i(size_of(spec, "intermediate_size"));
  const CheckedCount tokens = CheckedCount(shape.micro_batch) * CheckedCount(shape.sequence_length);
  // Attention 4h^2 + 4h, feed-forward 2hi + i + h, two norms 4h.
  const CheckedCount matrices = 4 * (h * h) + 2 * (h * i);
  return {.id = std::move(id),
          .kind = "encoder",
          .parameters = matrices + i + 9 * h,
          .output_elements = tokens * h,
          .forward_flops =
              matrix_flops(tokens, matrices) + attention_flops(tokens, shape.sequence_length, h)};
}

Family encoder_family() {
  return {.name = "encoder",
          .settings = {{.name = "hidden_size"},
                       layer_count_setting("num_layers"),
                       {.name = "num_heads"},
                       {.name = "intermediate_size"},
                       {.name = "sequence_length"},
                       activation_setting("relu"),
                       {.name = "norm_epsilon", .kind = SettingKind::kNumber, .fallback = 1e-5}},
          .finish = finish,
          .layers = layers,
          .longest_sequence = longest_sequence};
}

}  // namespace headrace
