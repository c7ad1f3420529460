// What one layer holds in memory, measured by running it once.
//
// The rules make a stage's memory the sum over its layers. Every storage belongs to one layer:
//  - a layer's input is its own, whether or not its operations save it (they do in all families):
//    the stage needs it for the input's gradient;
//  - so a layer's output belongs to the layer after it, even where the layer itself saves it
//    (a final ReLU); a stage's last output is the message to the next stage, not an activation;
//  - parameters and constants (rotary tables) are not activations;
//  - the last layer's loss and the targets it saves belong to the last layer.
#pragma once

#include <functional>
#include <optional>

#include <ATen/core/Tensor.h>

#include "core/units.h"
#include "models/torch/torch_model.h"

namespace headrace {

struct LayerMemory {
  Bytes saved_activation{0};  ///< From forward until backward, by the rules above.
  Bytes output{0};            ///< 0 where the output is the loss.
  /// Largest need beyond the saved activations while F or a whole B runs: the output, incoming and
  /// outgoing gradients, temporaries.
  Bytes workspace{0};
  /// Held between I and W; absent for a layer without an input gradient, which has no I.
  std::optional<Bytes> deferred_weight_grad;
};

/// What is run: one layer, with the loss behind it where it is the last.
struct MeasuredLayer {
  LayerModule* layer = nullptr;
  at::Tensor input;  ///< A typical one; it is copied.
  bool needs_input_gradient = true;
  std::function<at::Tensor(const at::Tensor& output)> loss = {};  ///< Null but for the last layer.
};

/// Runs the layer a few times. Its gradients are allocated first, as in every iteration but the
/// first, and are left changed. `install_saved_tensor_hooks` must have run.
LayerMemory measure_memory(const MeasuredLayer& measured);

}  // namespace headrace
