// What-if documents.
#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/json/field_rules.h"
#include "core/what_if.h"

namespace headrace {

template <typename At>
void describe(At& at, Of<WhatIfResult> auto& result) {
  at.required("iteration_s", result.iteration);
  at.required("change", result.change);
  at.required("bubble_ratio", result.bubble_ratio);
  at.required("peak_activations", result.peak_activations);
  at.required("peak_memory_bytes", result.peak_memory);
  at.optional("missing_bytes", result.missing);
  at.required("messages", result.messages);
  at.required("traffic_bytes", result.traffic);
  at.required("micro_batches_per_s", result.microbatches_per_s);
  at.optional("samples_per_s", result.samples_per_s);
  at.required("pareto", result.pareto);
}

template <typename At>
void describe(At& at, Of<WhatIfRow> auto& row) {
  at.required("values", row.values);
  at.optional("result", row.result);
  at.optional("problem", row.problem);
  at.optional("note", row.note);
}

template <typename At>
void describe(At& at, Of<Sensitivity> auto& sensitivity) {
  at.required("what", sensitivity.what);
  at.required("change", sensitivity.change);
}

template <typename At>
void describe(At& at, Of<WhatIf> auto& what_if) {
  at.required("keys", what_if.keys);
  at.required("rows", what_if.rows);
  at.optional("sensitivity_share", what_if.sensitivity_share);
  at.optional("sensitivities", what_if.sensitivities);
}

Result<WhatIf> what_if_from_json(std::string_view text, std::string_view source) {
  return read_document<WhatIf>(text, source, "whatif", [](ObjectReader& document, WhatIf& what_if) {
    describe(document, what_if);
    document.finish();
  });
}

std::string to_json(const WhatIf& what_if) {
  ObjectWriter document = started_document("whatif");
  describe(document, what_if);
  return document_text(std::move(document));
}

}  // namespace headrace
