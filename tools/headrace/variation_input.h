// Changes that act on a finished simulation input: stages, devices, the hop; and what reads values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "simulator/simulate.h"
#include "tools/headrace/variation_keys.h"

namespace headrace::cli {

/// Applies a change of stage.…, device.… or hop; `of_plan` where links decide what messages take.
/// Fails with kUsage.
Result<void> apply_change(const Change& change, bool of_plan, SimulationInput& input);

/// A usage error about a change; it names the change itself.
Failure bad_change(const Change& change, std::string what, std::string fix);

/// The change as it was given.
std::string where_of(const Change& change);

/// A factor, or a bare number.
Result<double> positive_number(const Change& change);

/// Sets or multiplies a time.
Result<void> set_time(const Change& change, Seconds& time);

/// The numbers that a piece of a key stands for: "3", or "*" for 0 … size - 1.
Result<std::vector<std::size_t>> numbers(const Change& change, std::string_view piece,
                                         std::size_t size, std::string_view noun);

}  // namespace headrace::cli
