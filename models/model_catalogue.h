// What a model consists of: its layers in chain order with exact counts, from its family's sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model_spec.h"
#include "core/result.h"
#include "core/units.h"

namespace headrace {

/// One layer of the chain; a stage holds whole layers.
struct LayerFacts {
  std::string id;               ///< "embedding", "layers.0", …, "norm", "head".
  std::string kind;             ///< "embedding", "decoder", "norm", "head", …: for people.
  std::int64_t parameters = 0;  ///< All that this layer needs, tied ones included.
  std::string tie_group = {};   ///< Layers of one non-empty group share `tied_parameters`.
  std::int64_t tied_parameters = 0;
  std::string same_as_key = {};  ///< Layers with equal keys are identical but for their weights.
  Flops forward_flops{0};        ///< Per micro-batch: 2 per multiply-add of the matrix products.
  std::int64_t output_elements = 0;  ///< Per micro-batch, handed to the next layer.
  friend bool operator==(const LayerFacts&, const LayerFacts&) = default;
};

/// The names of all families, in the order of the table.
std::vector<std::string_view> family_names();

/// `spec` with every setting that it left out filled in by its family's default. Fails with
/// kBadInput on an unknown family or setting ("did you mean"), a missing size, a wrong type, a
/// size that is not positive, or sizes that do not fit together (heads that do not divide).
Result<ModelSpec> complete_spec(const ModelSpec& spec);

/// The sequence length to use: `requested`, or the spec's own where that is 0. It is 0 for a model
/// without a sequence. Fails with kUsage where the model cannot take that many positions.
Result<int> sequence_length_of(const ModelSpec& spec, int requested);

/// Every layer in the order data flows. The final norm is a layer of its own, so that both of
/// torchtitan's and Megatron's cuts can be written down. `sequence_length` 0 takes the spec's own.
///
/// O(layers). Fails as `complete_spec` and `sequence_length_of`, and with kBadInput where a count
/// exceeds 63 bits.
Result<std::vector<LayerFacts>> layers_of(const ModelSpec& spec, int micro_batch,
                                          int sequence_length);

/// Unique parameters: a tied one counts once.
Result<std::int64_t> parameter_count(const ModelSpec& spec);

}  // namespace headrace
