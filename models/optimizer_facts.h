// The optimizers Headrace trains with, as far as memory is concerned.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace headrace {

/// "sgd", "momentum", "adam".
std::vector<std::string_view> optimizer_names();

/// Values of state kept per parameter, in the parameter's own type: sgd 0, momentum 1, adam 2.
/// Fails with kUsage on an unknown name.
Result<std::int64_t> optimizer_state_per_parameter(std::string_view optimizer);

}  // namespace headrace
