// What a fallible function returns: a value, or an error a person can act on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace headrace {

/// Why a request was not fulfilled. Each code has one exit status (`exit_status`).
enum class ErrorCode {
  kInternal,     ///< A fault of ours.
  kUsage,        ///< A flag or argument is wrong.
  kBadInput,     ///< A file is wrong; `where` is file:line or a JSON pointer.
  kInfeasible,   ///< The request is understood but has no solution.
  kMismatch,     ///< Measured and predicted differ beyond tolerance, or numerics are wrong.
  kDeadlock,     ///< A schedule waits for itself; `cycle` names the actions.
  kTimeout,      ///< A peer did not answer in time, or died.
  kUnavailable,  ///< This build or machine lacks a GPU, driver, CUPTI, LibTorch or NCCL.
  kInterrupted,  ///< The user pressed Ctrl-C.
};

/// One action of a deadlock and what it waits for, both in schedule notation ("2RECV_F5").
struct BlockedAction {
  int device = 0;
  std::string action;
  std::string waits_for;
  friend bool operator==(const BlockedAction&, const BlockedAction&) = default;
};

/// The first four fields are always filled: what happened with the numbers, where (file:line, JSON
/// pointer, flag, device), and the smallest action that cures it.
struct Error {
  ErrorCode code;
  std::string what;
  std::string where;
  std::string fix;
  std::string why = {};                   ///< The arithmetic behind `what`, where there is some.
  std::vector<BlockedAction> cycle = {};  ///< kDeadlock only.
};

/// "data/gpt2.json: 2 layers cannot fill 3 stages\n  fix: use --stages 2 or fewer"; a `why` and a
/// cycle stand between, one line each.
std::string to_string(const Error& error);

/// The process exit status of an error: the table in docs/cli.md.
int exit_status(ErrorCode code);

/// Stable name of a code for documents: "usage", "bad-input", "infeasible", …
std::string_view name_of(ErrorCode code);

/// Becomes std::expected when the project moves to C++23; nothing else names `tl`.
template <typename T>
using Result = tl::expected<T, Error>;
using Failure = tl::unexpected<Error>;

}  // namespace headrace
