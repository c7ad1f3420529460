// Comparison documents.
#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/json/field_rules.h"

namespace headrace {

template <typename At>
void describe(At& at, Of<StageComparison> auto& stage) {
  at.required("stage", stage.stage);
  at.required("predicted_forward_s", stage.predicted_forward);
  at.required("measured_forward_s", stage.measured_forward);
  at.required("forward_error", stage.forward_error);
  at.required("predicted_backward_s", stage.predicted_backward);
  at.required("measured_backward_s", stage.measured_backward);
  at.required("backward_error", stage.backward_error);
}

template <typename At>
void describe(At& at, Of<MemoryComparison> auto& memory) {
  at.required("device", memory.device);
  at.required("predicted_bytes", memory.predicted);
  at.optional("measured_bytes", memory.measured);
}

template <typename At>
void describe(At& at, Of<Comparison> auto& comparison) {
  at.required("predicted_s", comparison.predicted);
  at.required("measured_s", comparison.measured);
  at.required("relative_error", comparison.relative_error);
  at.required("formula_s", comparison.formula);
  at.required("formula_error", comparison.formula_error);
  at.optional("inside_band", comparison.inside_band);
  at.required("noise_floor", comparison.noise_floor);
  at.required("per_stage", comparison.per_stage);
  at.defaulted("memory", comparison.memory);
  at.defaulted("explanation", comparison.explanation);
}

Result<Comparison> comparison_from_json(std::string_view text, std::string_view source) {
  return read_document<Comparison>(text, source, "comparison");
}

std::string to_json(const Comparison& comparison) {
  return write_document(comparison, "comparison");
}

}  // namespace headrace
