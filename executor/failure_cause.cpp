#include "executor/failure_cause.h"

#include <string>

namespace headrace {

int distance_from_cause(const Error& error) {
  if (error.code != ErrorCode::kTimeout) return 0;
  if (error.what.find(" died: ") != std::string::npos) return 0;
  return error.what.find(" lost rank ") == std::string::npos ? 1 : 2;
}

}  // namespace headrace
