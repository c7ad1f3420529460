// A what-if table for people and for spreadsheets.
#pragma once

#include <string>

#include "core/what_if.h"

namespace headrace {

/// One line per row, * where it is on the Pareto front; sensitivities below. Ends with a newline.
std::string what_if_text(const WhatIf& what_if);

/// The same in CSV: SI units, one header line, empty cells where there is no result.
std::string what_if_csv(const WhatIf& what_if);

}  // namespace headrace
