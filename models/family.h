// What a family of models must answer. One file in models/families/ and one line in the table of
// models/model_catalogue.cpp make a family; its modules are in models/torch/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model_spec.h"
#include "core/result.h"
#include "models/checked_count.h"
#include "models/settings.h"

namespace headrace {

/// One layer while it is counted; becomes LayerFacts once nothing has overflowed.
struct CountedLayer {
  std::string id;
  std::string kind;
  CheckedCount parameters;
  CheckedCount output_elements;
  double forward_flops = 0;
  std::string tie_group = {};
  CheckedCount tied_parameters = {};
};

/// Sizes of one micro-batch.
struct MicrobatchShape {
  std::int64_t micro_batch = 1;
  std::int64_t sequence_length = 0;
};

struct Family {
  std::string_view name;
  std::vector<Setting> settings;

  /// Derives what is absent and checks what a single setting cannot tell. May be null.
  Result<void> (*finish)(ModelSpec& spec) = nullptr;

  /// The chain. `spec` is complete.
  std::vector<CountedLayer> (*layers)(const ModelSpec& spec,
                                      const MicrobatchShape& shape) = nullptr;

  /// Largest sequence length, or 0 where there is no limit. Null for a model without a sequence.
  std::int64_t (*longest_sequence)(const ModelSpec& spec) = nullptr;

  /// The model_type names of Hugging Face configurations that are of this family.
  std::vector<std::string_view> foreign_types = {};

  /// Ours from theirs; `config` is flattened. Null where there are no foreign types.
  Result<ModelSpec> (*from_foreign)(const ModelSpec& config, const std::string& source) = nullptr;
};

Family gpt2_family();
Family llama_family();
Family encoder_family();
Family bert_family();
Family mlp_family();
Family convnet_family();

}  // namespace headrace
