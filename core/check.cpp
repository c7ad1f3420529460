#include "core/check.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

namespace headrace {

void check_failed(std::string_view file, int line, std::string_view expression,
                  std::string_view message) {
  fmt::print(stderr, "{}:{}: check failed: {}: {}\n", file, line, expression, message);
  std::abort();
}

}  // namespace headrace
