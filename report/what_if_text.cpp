#include "report/what_if_text.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "report/table.h"
#include "report/text_report.h"

namespace headrace {
namespace {

bool any_result(const WhatIf& what_if, bool (*holds)(const WhatIfResult&)) {
  return std::ranges::any_of(
      what_if.rows, [&](const WhatIfRow& row) { return row.result && holds(*row.result); });
}

/// Which columns there is something to say in.
struct Columns {
  explicit Columns(const WhatIf& what_if)
      : memory(any_result(what_if, [](const auto& r) { return r.peak_memory > Bytes{0}; })),
        traffic(any_result(what_if, [](const auto& r) { return r.traffic > Bytes{0}; })),
        samples(any_result(what_if, [](const auto& r) { return r.samples_per_s.has_value(); })) {}
  bool memory;
  bool traffic;
  bool samples;
};

TableRow heading(const WhatIf& what_if, const Columns& columns) {
  TableRow row = {""};
  row.insert(row.end(), what_if.keys.begin(), what_if.keys.end());
  for (const char* name : {"iteration", "change", "bubble"}) row.emplace_back(name);
  row.emplace_back(columns.memory ? "peak memory" : "peak activations");
  row.emplace_back(columns.traffic ? "traffic" : "messages");
  row.emplace_back(columns.samples ? "samples/s" : "micro-batches/s");
  row.emplace_back("");
  return row;
}

std::string remark(const WhatIfRow& row) {
  std::string text = row.note;
  if (row.result && row.result->missing) {
    text = fmt::format("does not fit, short by {}", to_text(*row.result->missing)) +
           (text.empty() ? "" : "; " + text);
  }
  return text;
}

TableRow line(const WhatIfRow& row, const WhatIf& what_if, const Columns& columns) {
  const WhatIfResult& result = *row.result;
  TableRow cells = {result.pareto ? "*" : ""};
  for (std::size_t k = 0; k < what_if.keys.size(); ++k) {
    cells.push_back(row.values.empty() ? (k == 0 ? "as it is" : "") : row.values[k]);
  }
  cells.push_back(to_text(result.iteration));
  cells.push_back(signed_percent_text(result.change));
  cells.push_back(percent_text(result.bubble_ratio));
  cells.push_back(columns.memory ? to_text(result.peak_memory)
                                 : fmt::format("{:.4g}", result.peak_activations));
  cells.push_back(columns.traffic ? to_text(result.traffic) : fmt::format("{}", result.messages));
  cells.push_back(fmt::format(
      "{:.4g}", columns.samples ? result.samples_per_s.value_or(0) : result.microbatches_per_s));
  cells.push_back(remark(row));
  return cells;
}

/// Rows without a result stand below the table: their reasons are sentences.
std::string problems(const WhatIf& what_if) {
  std::string text;
  for (const WhatIfRow& row : what_if.rows) {
    if (row.result) continue;
    std::string values;
    for (std::size_t k = 0; k < row.values.size(); ++k) {
      values += fmt::format("{}{}={}", k > 0 ? " " : "", what_if.keys[k], row.values[k]);
    }
    text += fmt::format("  {}: {}\n", values.empty() ? "as it is" : values, row.problem);
  }
  return text.empty() ? "" : "\nNot possible:\n" + text;
}

std::string sensitivities(const WhatIf& what_if) {
  if (what_if.sensitivities.empty()) return "";
  std::string text = fmt::format("\n{} longer would make the iteration longer by\n",
                                 percent_text(what_if.sensitivity_share));
  std::vector<TableRow> rows;
  for (const Sensitivity& sensitivity : what_if.sensitivities) {
    rows.push_back({sensitivity.what, signed_percent_text(sensitivity.change)});
  }
  return text + table_text(rows);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string what_if_text(const WhatIf& what_if) {
  const Columns columns(what_if);
  std::vector<TableRow> rows = {heading(what_if, columns)};
  for (const WhatIfRow& row : what_if.rows) {
    if (row.result) rows.push_back(line(row, what_if, columns));
  }
  std::string text = table_text(rows, 1 + static_cast<int>(what_if.keys.size()), 0);
  text += fmt::format(
      "change: of the time per {}; * nothing else here is as good in time, memory "
      "and traffic\n",
      columns.samples ? "sample" : "micro-batch");
  return text + problems(what_if) + sensitivities(what_if);
}

std::string what_if_csv(const WhatIf& what_if) {
  std::string text;
  for (const std::string& key : what_if.keys) text += csv_cell(key) + ",";
  text +=
      "iteration_s,change,bubble_ratio,peak_activations,peak_memory_bytes,missing_bytes,messages,"
      "traffic_bytes,micro_batches_per_s,samples_per_s,pareto,note\n";
  for (const WhatIfRow& row : what_if.rows) {
    for (std::size_t k = 0; k < what_if.keys.size(); ++k) {
      text += csv_cell(row.values.empty() ? "" : row.values[k]) + ",";
    }
    if (!row.result) {
      text += fmt::format(",,,,,,,,,,,{}\n", csv_cell(row.problem));
      continue;
    }
    const WhatIfResult& r = *row.result;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", r.iteration.value(), r.change,
                        r.bubble_ratio, r.peak_activations, r.peak_memory.value(),
                        r.missing ? fmt::format("{}", r.missing->value()) : "", r.messages,
                        r.traffic.value(), r.microbatches_per_s,
                        r.samples_per_s ? fmt::format("{}", *r.samples_per_s) : "",
                        r.pareto ? 1 : 0, csv_cell(row.note));
  }
  return text;
}

}  // namespace headrace
