// A multi-layer perceptron: linear layers with ReLU and a linear head over classes.
#include <fmt/format.h>

#include "models/families/transformer_checks.h"
#include "models/family.h"

namespace headrace {
namespace {

std::vector<CountedLayer> layers(const ModelSpec& spec, const MicrobatchShape& shape) {
  const CheckedCount batch(shape.micro_batch);
  const CheckedCount hidden(size_of(spec, "hidden_size"));
  const CheckedCount classes(size_of(spec, "num_classes"));
  CheckedCount width(size_of(spec, "input_size"));

  std::vector<CountedLayer> chain;
  for (std::int64_t k = 0; k < size_of(spec, "num_layers"); ++k) {
    chain.push_back({fmt::format("layers.{}", k), "linear", width * hidden + hidden, batch * hidden,
                     matrix_flops(batch, width * hidden)});
    width = hidden;
  }
  chain.push_back({"head", "head", width * classes + classes, batch * classes,
                   matrix_flops(batch, width * classes)});
  return chain;
}

}  // namespace

Family mlp_family() {
  return {.name = "mlp",
          .settings = {{.name = "input_size"},
                       {.name = "hidden_size"},
                       layer_count_setting("num_layers"),
                       {.name = "num_classes"}},
          .layers = layers};
}

}  // namespace headrace
