// Progress of the worker, as lines that the command line turns into a bar.
#pragma once

#include <string_view>

namespace headrace::worker {

/// Writes "progress DONE TOTAL TEXT" to stderr.
void print_progress(int done, int total, std::string_view text);

}  // namespace headrace::worker
