// Tests that take minutes run only when they are asked for.
#pragma once

#include <cstdlib>
#include <string_view>

namespace headrace::testing {

/// True with HEADRACE_LONG_TESTS=1 in the environment.
inline bool long_tests() {
  const char* wish = std::getenv("HEADRACE_LONG_TESTS");
  return wish != nullptr && std::string_view(wish) == "1";
}

}  // namespace headrace::testing
