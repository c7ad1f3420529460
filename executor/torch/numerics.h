// Proof that the split model computes what the unsplit one does.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/schedule.h"
#include "core/units.h"
#include "executor/channel.h"
#include "executor/torch/torch_backend.h"

namespace headrace {

/// One parameter's gradient beside the unsplit model's.
struct GradientComparison {
  std::string parameter;
  /// Largest difference over the larger of this gradient's largest value and a millionth of the
  /// whole model's: a gradient that is zero but for rounding has no digits to compare.
  double difference = 0;
  double ratio = 1;  ///< Least-squares factor: 4 where the gradient is four times too large.
};

struct NumericsReport {
  double loss = 0;
  double reference_loss = 0;
  double loss_difference = 0;  ///< Relative.
  double limit = 0;            ///< For the dtype: 1e-5 in fp32.
  int parameters = 0;
  GradientComparison worst;
};

/// After the first iteration: rank 0 runs the same micro-batches, from the same initial weights,
/// through the unsplit model, and compares the loss and every gradient. All ranks must call it; the
/// others get an empty report, after rank 0 is done. Rank 0 holds a second copy of the model.
/// Fails with kMismatch naming the first parameter beyond the limit, with its ratio.
Result<NumericsReport> check_numerics(const RunModel& model, const Schedule& schedule,
                                      const TorchBackend& backend, Channel& channel,
                                      Seconds timeout);

/// Compares gradients that rank 0 has. `largest` is the largest value of the whole model's.
GradientComparison compare_gradients(const std::string& parameter, const torch::Tensor& ours,
                                     const torch::Tensor& reference, double largest);

}  // namespace headrace
