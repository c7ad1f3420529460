// Shapes of the convolutional net's blocks, for counting and for building them.
#pragma once

#include <cstdint>

#include "core/model_spec.h"

namespace headrace {

/// Two 3x3 convolutions around a shortcut; the first block of a level halves the image and doubles
/// the channels, with a 1x1 convolution as its shortcut.
struct ConvnetBlock {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t stride = 1;
  std::int64_t side = 0;  ///< Height and width of the output.
};

/// Block `index` of a complete convnet spec.
ConvnetBlock convnet_block(const ModelSpec& spec, std::int64_t index);

}  // namespace headrace
