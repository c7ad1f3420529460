// What this machine and this build can do, one finding per thing.
#pragma once

#include <string>
#include <vector>

namespace headrace::cli {

/// One thing that Headrace can use.
struct Finding {
  std::string name;      ///< "NVIDIA driver".
  bool okay = false;     ///< Present and usable.
  std::string found;     ///< What is there, or what is missing.
  std::string fix = {};  ///< How to get it, where it is missing.
};

/// Looks at program, cores, memory, LibTorch worker, driver and CUPTI. Nothing of it needs to be
/// there. Starts the worker once to ask for its version.
std::vector<Finding> check_machine();

}  // namespace headrace::cli
