// The table of all model families.
#pragma once

#include <span>

#include "models/family.h"

namespace headrace {

/// In the order they are listed to people.
std::span<const Family> all_families();

}  // namespace headrace
