#include "executor/torch/torch_errors.h"

namespace headrace {

Error torch_error(std::string_view doing, std::string_view message) {
  const std::string first_line(message.substr(0, message.find('\n')));
  const bool memory = first_line.find("allocate memory") != std::string::npos;
  return {.code = memory ? ErrorCode::kInfeasible : ErrorCode::kInternal,
          .what = memory ? "out of memory: " + first_line : "LibTorch: " + first_line,
          .where = std::string(doing),
          .fix = memory ? "use a smaller micro-batch, fewer micro-batches or more stages"
                        : "report it with the plan that was run"};
}

}  // namespace headrace
