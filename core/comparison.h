// A prediction laid beside a measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace headrace {

/// (predicted - measured) / measured, signed.
double relative_error(Seconds predicted, Seconds measured);

/// One stage's mean time per action, predicted and measured.
struct StageComparison {
  int stage = 0;
  Seconds predicted_forward{0};
  Seconds measured_forward{0};
  Seconds predicted_backward{0};  ///< I + W where backward is split.
  Seconds measured_backward{0};
  double forward_error = 0;
  double backward_error = 0;
  friend bool operator==(const StageComparison&, const StageComparison&) = default;
};

/// One device's peak memory; absent where the run could not measure it.
struct MemoryComparison {
  int device = 0;
  Bytes predicted{0};
  std::optional<Bytes> measured;
  friend bool operator==(const MemoryComparison&, const MemoryComparison&) = default;
};

struct Comparison {
  Seconds predicted{0};  ///< Iteration time.
  Seconds measured{0};   ///< Median of the measured iterations.
  double relative_error = 0;
  Seconds formula{0};
  double formula_error = 0;         ///< Of the textbook formula against the measurement.
  std::optional<bool> inside_band;  ///< Absent where the prediction has no band.
  double noise_floor = 0;  ///< Half the interquartile range of the iterations over their median.
  std::vector<StageComparison> per_stage;
  std::vector<MemoryComparison> memory = {};
  std::vector<std::string> explanation = {};  ///< Where the difference sits, largest part first.
  friend bool operator==(const Comparison&, const Comparison&) = default;
};

}  // namespace headrace
