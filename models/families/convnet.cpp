// A small residual convolutional net: stem, blocks of two 3x3 convolutions, pooled head.
#include "models/families/convnet.h"

#include <fmt/format.h>

#include "models/families/transformer_checks.h"
#include "models/family.h"

namespace headrace {
namespace {

constexpr std::int64_t kMostLevels = 16;

Result<void> finish(ModelSpec& spec) {
  const std::int64_t levels = (size_of(spec, "num_blocks") - 1) / size_of(spec, "blocks_per_level");
  const std::int64_t side = size_of(spec, "image_size");
  if (levels <= kMostLevels && (side >> levels) >= 1) return {};
  return Failure(setting_error(
      spec, "num_blocks",
      fmt::format("the image of {0}x{0} is halved {1} times by {2} blocks, {3} to a level", side,
                  levels, size_of(spec, "num_blocks"), size_of(spec, "blocks_per_level")),
      "use fewer blocks, more blocks_per_level or a larger image_size"));
}

std::vector<CountedLayer> layers(const ModelSpec& spec, const MicrobatchShape& shape) {
  const CheckedCount batch(shape.micro_batch);
  const CheckedCount colours(size_of(spec, "in_channels"));
  const CheckedCount base(size_of(spec, "channels"));
  const CheckedCount side(size_of(spec, "image_size"));

  std::vector<CountedLayer> chain;
  const CheckedCount pixels = batch * side * side;
  chain.push_back({"stem", "stem", 9 * (colours * base) + base, pixels * base,
                   matrix_flops(pixels, 9 * (colours * base))});
  for (std::int64_t k = 0; k < size_of(spec, "num_blocks"); ++k) {
    const ConvnetBlock block = convnet_block(spec, k);
    const CheckedCount in(block.in_channels);
    const CheckedCount out(block.out_channels);
    const CheckedCount shortcut = block.stride == 1 ? CheckedCount() : in * out;
    const CheckedCount weights = 9 * (in * out) + 9 * (out * out) + shortcut;
    const CheckedCount places = batch * CheckedCount(block.side) * CheckedCount(block.side);
    chain.push_back({fmt::format("layers.{}", k), block.stride == 1 ? "block" : "halving-block",
                     weights + 2 * out, places * out, matrix_flops(places, weights)});
  }
  const CheckedCount last(convnet_block(spec, size_of(spec, "num_blocks") - 1).out_channels);
  const CheckedCount classes(size_of(spec, "num_classes"));
  chain.push_back({"head", "head", last * classes + classes, batch * classes,
                   matrix_flops(batch, last * classes)});
  return chain;
}

}  // namespace

ConvnetBlock convnet_block(const ModelSpec& spec, std::int64_t index) {
  const std::int64_t per_level = size_of(spec, "blocks_per_level");
  const std::int64_t level = index / per_level;
  const bool halves = level > 0 && index % per_level == 0;
  const std::int64_t channels = size_of(spec, "channels");
  std::int64_t side = size_of(spec, "image_size");
  for (std::int64_t k = 0; k < level; ++k) side = (side + 1) / 2;
  return {.in_channels = channels << (halves ? level - 1 : level),
          .out_channels = channels << level,
          .stride = halves ? 2 : 1,
          .side = side};
}

Family convnet_family() {
  return {.name = "convnet",
          .settings = {{.name = "image_size"},
                       {.name = "in_channels", .fallback = std::int64_t{3}},
                       {.name = "channels"},
                       layer_count_setting("num_blocks"),
                       {.name = "blocks_per_level"},
                       {.name = "num_classes"}},
          .finish = finish,
          .layers = layers};
}

}  // namespace headrace
