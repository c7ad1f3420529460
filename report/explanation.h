// Why a measured iteration took longer or shorter than the predicted one.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/timeline.h"
#include "core/units.h"

namespace headrace {

/// What a measured iteration and its prediction are to be told apart by.
struct DifferenceInput {
  const Timeline& predicted;
  const Timeline& measured;
  Seconds predicted_iteration{0};
  Seconds measured_iteration{0};
};

/// One reason for a difference and the time it adds (negative: it saves).
struct DifferencePart {
  std::string reason;
  Seconds time{0};
  friend bool operator==(const DifferencePart&, const DifferencePart&) = default;
};

/// Splits measured - predicted into parts that add up to it, largest first. The predicted critical
/// chain is followed through the measurement: the same actions take longer or shorter (per stage),
/// and the gaps between them are launch gaps, messages, or waiting that was not predicted. What
/// lies outside the chain is the start, the end, and what follows the last action.
/// Fails with kBadInput when the measurement lacks an action of the chain.
Result<std::vector<DifferencePart>> difference_parts(const DifferenceInput& input);

/// The parts that matter as sentences with milliseconds: at least 0.1 % of the measured iteration.
std::vector<std::string> explanation_of(const std::vector<DifferencePart>& parts,
                                        const DifferenceInput& input, double noise_floor);

}  // namespace headrace
