// HEADRACE_CHECK: a fault of ours ends the program with both values; never reachable from input.
#pragma once

#include <string_view>

namespace headrace {

/// Prints "file:line: check failed: expression: message" on stderr and aborts.
[[noreturn]] void check_failed(std::string_view file, int line, std::string_view expression,
                               std::string_view message);

}  // namespace headrace

// Never compiled out. `message` says what must hold and, where it helps, the values.
#define HEADRACE_CHECK(condition, message)                                                 \
  do {                                                                                     \
    if (!(condition)) ::headrace::check_failed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
