// The convolutional net's layers in LibTorch; counted in models/families/convnet.cpp.
#include "models/families/convnet.h"
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

torch::Tensor convolve(const torch::Tensor& x, const Affine& affine, std::int64_t stride) {
  return at::conv2d(x, affine.weight, affine.bias, stride, 1);
}

class Stem final : public ParameterLayer {
 public:
  Stem(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        affine_{
            parameter("weight", {size_of(spec, "channels"), size_of(spec, "in_channels"), 3, 3}),
            parameter("bias", {size_of(spec, "channels")})} {}

  torch::Tensor forward(torch::Tensor x) override { return torch::relu(convolve(x, affine_, 1)); }

 private:
  Affine affine_;
};

class Block final : public ParameterLayer {
 public:
  Block(const ConvnetBlock& block, const LayerPlace& place)
      : ParameterLayer(place.dtype), stride_(block.stride) {
    const std::int64_t in = block.in_channels;
    const std::int64_t out = block.out_channels;
    first_ = {parameter("first_weight", {out, in, 3, 3}), parameter("first_bias", {out})};
    second_ = {parameter("second_weight", {out, out, 3, 3}), parameter("second_bias", {out})};
    if (stride_ != 1) shortcut_ = parameter("shortcut_weight", {out, in, 1, 1});
  }

  torch::Tensor forward(torch::Tensor x) override {
    const torch::Tensor inner = torch::relu(convolve(x, first_, stride_));
    if (shortcut_.defined()) x = at::conv2d(x, shortcut_, {}, stride_);
    return torch::relu(x + at::conv2d(inner, second_.weight, second_.bias, 1, 1));
  }

 private:
  std::int64_t stride_;
  Affine first_;
  Affine second_;
  torch::Tensor shortcut_;
};

class PooledHead final : public ParameterLayer {
 public:
  PooledHead(std::int64_t channels, std::int64_t classes, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        affine_{parameter("weight", {classes, channels}), parameter("bias", {classes})} {}

  torch::Tensor forward(torch::Tensor x) override { return linear(x.mean({2, 3}), affine_); }

 private:
  Affine affine_;
};

std::shared_ptr<LayerModule> make_convnet_layer(const ModelSpec& spec, const LayerPlace& place) {
  if (place.id == "stem") return std::make_shared<Stem>(spec, place);
  if (place.id == "head") {
    const ConvnetBlock last = convnet_block(spec, size_of(spec, "num_blocks") - 1);
    return std::make_shared<PooledHead>(last.out_channels, size_of(spec, "num_classes"), place);
  }
  return std::make_shared<Block>(convnet_block(spec, place.index), place);
}

Batch make_convnet_batch(const ModelSpec& spec, const BatchPlace& place) {
  const std::int64_t side = size_of(spec, "image_size");
  torch::Tensor images = random_features(place, {size_of(spec, "in_channels"), side, side});
  return {images, random_classes(place, size_of(spec, "num_classes"))};
}

}  // namespace

TorchFamily convnet_torch_family() {
  return {"convnet", make_convnet_layer, make_convnet_batch, Loss::kCrossEntropy};
}

}  // namespace headrace
