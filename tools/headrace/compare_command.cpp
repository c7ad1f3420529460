// `headrace compare`: a prediction beside measured runs, one or several.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/text.h"
#include "report/compare.h"
#include "report/table.h"
#include "report/text_report.h"
#include "tools/headrace/command.h"
#include "tools/headrace/documents.h"
#include "tools/headrace/prediction.h"

namespace headrace::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> files;
  std::optional<double> tolerance;
};

struct Named {
  std::string file;
  Comparison comparison;
};

Result<Named> compare_file(const SimulationOutcome& predicted, const std::string& file) {
  const auto source = read_source(file);
  if (!source) return Failure(source.error());
  const auto measured = timeline_from_json(source->text, source->source);
  if (!measured) return Failure(measured.error());
  auto comparison = compare(predicted.report, predicted.timeline, *measured);
  if (!comparison) {
    Error error = comparison.error();
    error.where = source->source;
    return Failure(std::move(error));
  }
  return Named{source->source, *std::move(comparison)};
}

std::string table_of(const std::vector<Named>& all) {
  std::vector<TableRow> rows = {
      {"run", "predicted", "measured", "error", "formula's error", "noise floor"}};
  for (const auto& [file, comparison] : all) {
    rows.push_back({file, to_text(comparison.predicted), to_text(comparison.measured),
                    signed_percent_text(comparison.relative_error),
                    signed_percent_text(comparison.formula_error),
                    percent_text(comparison.noise_floor)});
  }
  return table_text(rows);
}

Result<void> check_tolerance(const std::vector<Named>& all, std::optional<double> tolerance) {
  for (const auto& [file, comparison] : all) {
    if (!tolerance || std::abs(comparison.relative_error) <= *tolerance) continue;
    return Failure({.code = ErrorCode::kMismatch,
                    .what = fmt::format("the prediction is off by {}; {} is allowed",
                                        signed_percent_text(comparison.relative_error),
                                        percent_text(*tolerance)),
                    .where = file,
                    .fix = "profile again on an idle machine, or raise --tolerance",
                    .why = comparison.explanation.empty() ? "" : comparison.explanation.front()});
  }
  return {};
}

Result<void> check_arguments(const CompareOptions& options, bool document_asked) {
  if (options.files.size() < 2) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = "one file is given",
                    .where = "headrace compare",
                    .fix = "name the prediction, then at least one measured timeline"});
  }
  if (options.files.size() == 2 || !document_asked) return {};
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("{} runs make {} documents", options.files.size() - 1,
                                      options.files.size() - 1),
                  .where = "headrace compare",
                  .fix = "with --json or -o compare one run at a time"});
}

Result<void> run(const CompareOptions& options, const Console& console) {
  if (auto ok = check_arguments(options, console.wants_document()); !ok) return ok;
  const auto predicted = read_prediction(options.files.front());
  if (!predicted) return Failure(predicted.error());
  std::vector<Named> all;
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    auto named = compare_file(*predicted, options.files[i]);
    if (!named) return Failure(named.error());
    all.push_back(*std::move(named));
  }
  const auto within = check_tolerance(all, options.tolerance);
  const Comparison& first = all.front().comparison;
  if (!within) {
    if (auto ok = console.deliver_before_error(
            to_json(first), all.size() == 1 ? comparison_text(first) : table_of(all));
        !ok) {
      return ok;
    }
    return within;
  }
  return console.deliver(to_json(first), all.size() == 1 ? comparison_text(first) : table_of(all));
}

}  // namespace

Action compare_command(Flags& flags) {
  auto options = std::make_shared<CompareOptions>();
  flags.add_positional_list("FILE", texts_into(options->files),
                            "the prediction, then measured timelines");
  flags.add("--tolerance", "X", fraction_into(options->tolerance),
            "exit with status 5 where the prediction is off by more: 5%");
  flags.add_example("headrace compare plan.json measured.json");
  flags.add_example("headrace compare plan.json measured.json --tolerance 5% --json");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
