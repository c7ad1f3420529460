// The layer that the families encoder and bert have in common.
#pragma once

#include <string>

#include "core/model_spec.h"
#include "models/family.h"

namespace headrace {

/// Counts of one nn.TransformerEncoderLayer; reads hidden_size and intermediate_size.
CountedLayer encoder_layer(std::string id, const ModelSpec& spec, const MicrobatchShape& shape);

}  // namespace headrace
