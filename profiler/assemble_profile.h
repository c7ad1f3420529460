// A Profile from what was measured for each class of layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/duration.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/units.h"
#include "models/model_catalogue.h"
#include "profiler/layer_classes.h"

namespace headrace {

/// What was measured for one class of layers, per micro-batch.
struct LayerCost {
  Duration forward;
  Duration backward;     ///< Whole.
  Duration input_grad;   ///< 0 for the first layer of the chain, which has no I …
  Duration weight_grad;  ///< … and whose W is the whole backward.
  Bytes parameters{0};   ///< As they lie in memory.
  Bytes saved_activation{0};
  Bytes output{0};
  Bytes workspace{0};
  std::optional<Bytes> deferred_weight_grad;
};

struct ProfileParts {
  ModelInfo model;
  ProfiledDevice device;
  std::string dtype;
  int micro_batch = 1;
  int sequence_length = 0;
  std::string optimizer;
  Duration optimizer_step;
  std::vector<LayerFacts> chain;
  std::vector<LayerClass> classes;
  std::vector<LayerCost> costs;  ///< One for each class.
};

/// Every layer gets its class's cost; all but the first member of a class say `same_as`. The
/// fingerprint is filled in. Fails as `ModelGraph::build` and on an unknown optimizer.
Result<Profile> assemble_profile(const ProfileParts& parts);

}  // namespace headrace
