// The perceptron's layers in LibTorch; counted in models/families/mlp.cpp.
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

class LinearLayer final : public ParameterLayer {
 public:
  LinearLayer(std::int64_t in, std::int64_t out, bool relu, torch::ScalarType dtype)
      : ParameterLayer(dtype),
        affine_{parameter("weight", {out, in}), parameter("bias", {out})},
        relu_(relu) {}

  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor y = linear(x, affine_);
    return relu_ ? torch::relu(y) : y;
  }

 private:
  Affine affine_;
  bool relu_;
};

std::shared_ptr<LayerModule> make_mlp_layer(const ModelSpec& spec, const LayerPlace& place) {
  const std::int64_t hidden = size_of(spec, "hidden_size");
  if (place.id == "head") {
    return std::make_shared<LinearLayer>(hidden, size_of(spec, "num_classes"), false, place.dtype);
  }
  const std::int64_t in = place.index == 0 ? size_of(spec, "input_size") : hidden;
  return std::make_shared<LinearLayer>(in, hidden, true, place.dtype);
}

Batch make_mlp_batch(const ModelSpec& spec, const BatchPlace& place) {
  torch::Tensor features = random_features(place, {size_of(spec, "input_size")});
  return {features, random_classes(place, size_of(spec, "num_classes"))};
}

}  // namespace

TorchFamily mlp_torch_family() {
  return {"mlp", make_mlp_layer, make_mlp_batch, Loss::kCrossEntropy};
}

}  // namespace headrace
