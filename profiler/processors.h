// The processor cores this process may use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace headrace {

/// Numbers of the cores this process may run on, ascending; never empty.
std::vector<int> usable_processors();

/// Keeps the calling thread on one core. Fails with kUnavailable where the system refuses.
Result<void> pin_to(int processor);

/// "AMD EPYC 7B13" out of the text of /proc/cpuinfo; "unknown processor" where it names none.
std::string processor_name_in(std::string_view cpuinfo);

/// Of this machine.
std::string processor_name();

}  // namespace headrace
