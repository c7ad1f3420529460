// A comparison for people: iteration, stages and memory, then what explains the difference.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "report/table.h"
#include "report/text_report.h"

namespace headrace {
namespace {

std::string iteration_table(const Comparison& comparison) {
  const std::vector<TableRow> rows = {
      {"", "predicted", "measured", "error"},
      {"iteration", to_text(comparison.predicted), to_text(comparison.measured),
       signed_percent_text(comparison.relative_error)},
      {"formula", to_text(comparison.formula), to_text(comparison.measured),
       signed_percent_text(comparison.formula_error)}};
  return table_text(rows);
}

std::string stage_table(const Comparison& comparison) {
  if (comparison.per_stage.empty()) return {};
  std::vector<TableRow> rows = {
      {"stage", "forward", "measured", "error", "backward", "measured", "error"}};
  for (const StageComparison& stage : comparison.per_stage) {
    rows.push_back({fmt::format("{}", stage.stage), to_text(stage.predicted_forward),
                    to_text(stage.measured_forward), signed_percent_text(stage.forward_error),
                    to_text(stage.predicted_backward), to_text(stage.measured_backward),
                    signed_percent_text(stage.backward_error)});
  }
  return "\n" + table_text(rows);
}

std::string memory_table(const Comparison& comparison) {
  if (comparison.memory.empty()) return {};
  std::vector<TableRow> rows = {{"device", "peak memory", "measured", "error"}};
  for (const MemoryComparison& memory : comparison.memory) {
    const bool known = memory.measured && *memory.measured > Bytes{0};
    rows.push_back(
        {fmt::format("{}", memory.device), to_text(memory.predicted),
         memory.measured ? to_text(*memory.measured) : "-",
         known ? signed_percent_text(ratio(memory.predicted - *memory.measured, *memory.measured))
               : "-"});
  }
  return "\n" + table_text(rows);
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = iteration_table(comparison);
  text += fmt::format("  noise floor of the measurement: +/- {}\n",
                      percent_text(comparison.noise_floor));
  if (comparison.inside_band) {
    text +=
        fmt::format("  {} the predicted band\n", *comparison.inside_band ? "inside" : "outside");
  }
  text += stage_table(comparison) + memory_table(comparison);
  if (!comparison.explanation.empty()) text += "\nWhat makes the difference, largest first:\n";
  for (const std::string& line : comparison.explanation) text += "  " + line + "\n";
  return text;
}

}  // namespace headrace
