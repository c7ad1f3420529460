#include "core/result.h"

#include <fmt/core.h>

namespace headrace {

std::string to_string(const Error& error) {
  std::string text = fmt::format("{}: {}", error.where, error.what);
  if (!error.why.empty()) text += fmt::format("\n  why: {}", error.why);
  for (const BlockedAction& blocked : error.cycle) {
    text += fmt::format("\n  device {}: {} waits for {}", blocked.device, blocked.action,
                        blocked.waits_for);
  }
  return text + fmt::format("\n  fix: {}", error.fix);
}

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return 1;
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kBadInput:
      return 3;
    case ErrorCode::kInfeasible:
      return 4;
    case ErrorCode::kMismatch:
      return 5;
    case ErrorCode::kDeadlock:
    case ErrorCode::kTimeout:
      return 6;
    case ErrorCode::kUnavailable:
      return 7;
    case ErrorCode::kInterrupted:
      return 130;
  }
  return 1;
}

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return "internal";
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kBadInput:
      return "bad-input";
    case ErrorCode::kInfeasible:
      return "infeasible";
    case ErrorCode::kMismatch:
      return "mismatch";
    case ErrorCode::kDeadlock:
      return "deadlock";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kInterrupted:
      return "interrupted";
  }
  return "internal";
}

}  // namespace headrace
