#include "tools/headrace-torch/progress.h"

#include <cstdio>

#include <fmt/core.h>

namespace headrace::worker {

void print_progress(int done, int total, std::string_view text) {
  fmt::print(stderr, "progress {} {} {}\n", done, total, text);
}

}  // namespace headrace::worker
