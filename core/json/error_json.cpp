// Errors as documents, for --json. Written only.
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

std::string to_json(const Error& error) {
  ObjectWriter document = started_document("error");
  document.object("error", [&](ObjectWriter& members) {
    members.required("code", std::string(name_of(error.code)));
    members.required("exit", exit_status(error.code));
    members.required("what", error.what);
    members.required("where", error.where);
    members.required("why", error.why);
    members.required("fix", error.fix);
    members.optional("cycle", error.cycle);
  });
  return document_text(std::move(document));
}

}  // namespace headrace
