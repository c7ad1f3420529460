// Errors as documents, for --json and between our own programs.
#include <optional>
#include <string>
#include <utility>

#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/json/field_rules.h"

namespace headrace {

template <typename At>
void describe(At& at, Of<BlockedAction> auto& blocked) {
  at.required("device", blocked.device);
  at.required("action", blocked.action);
  at.required("waits_for", blocked.waits_for);
}

template <>
struct TextForm<ErrorCode> {
  static constexpr std::string_view kName = "the name of an error";
  static constexpr std::string_view kExample = "\"bad-input\"";
  static std::string to(ErrorCode code) { return std::string(name_of(code)); }
  static std::optional<ErrorCode> from(std::string_view text) {
    for (const ErrorCode code :
         {ErrorCode::kInternal, ErrorCode::kUsage, ErrorCode::kBadInput, ErrorCode::kInfeasible,
          ErrorCode::kMismatch, ErrorCode::kDeadlock, ErrorCode::kTimeout, ErrorCode::kUnavailable,
          ErrorCode::kInterrupted}) {
      if (name_of(code) == text) return code;
    }
    return std::nullopt;
  }
};

template <typename At>
void describe(At& at, Of<Error> auto& error) {
  at.required("code", error.code);
  at.derived("exit", exit_status(error.code));
  at.required("what", error.what);
  at.required("where", error.where);
  at.defaulted("why", error.why);
  at.required("fix", error.fix);
  at.optional("cycle", error.cycle);
}

Result<Error> error_from_json(std::string_view text, std::string_view source) {
  return read_document<Error>(text, source, "error", [](ObjectReader& document, Error& error) {
    document.required("error", error);
  });
}

std::string to_json(const Error& error) {
  ObjectWriter document = started_document("error");
  document.required("error", error);
  return document_text(std::move(document));
}

}  // namespace headrace
