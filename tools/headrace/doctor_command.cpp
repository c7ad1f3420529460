// `headrace doctor`: what is here, and how to get what is not.
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "core/version.h"
#include "report/json_text.h"
#include "report/table.h"
#include "tools/headrace/command.h"
#include "tools/headrace/machine_checks.h"

namespace headrace::cli {
namespace {

std::string document_of(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    lines.push_back(fmt::format(
        R"(    {{"name": {}, "okay": {}, "found": {}{}}})", json_string(finding.name), finding.okay,
        json_string(finding.found),
        finding.fix.empty() ? "" : fmt::format(R"(, "fix": {})", json_string(finding.fix))));
  }
  return fmt::format(
      "{{\n  \"schema\": \"headrace/doctor/1\",\n  \"tool\": {{\n    \"name\": \"headrace\",\n"
      "    \"version\": {}\n  }},\n  \"checks\": [\n{}\n  ]\n}}\n",
      json_string(kVersion), fmt::join(lines, ",\n"));
}

std::string text_of(const std::vector<Finding>& findings) {
  std::vector<TableRow> rows;
  for (const Finding& finding : findings) {
    rows.push_back({finding.okay ? "OKAY" : "NO", finding.name, finding.found});
    if (!finding.fix.empty()) rows.push_back({"", "", "fix: " + finding.fix});
  }
  return table_text(rows, 3, 0);
}

Result<void> run(const Console& console) {
  const std::vector<Finding> findings = check_machine();
  return console.deliver(document_of(findings), text_of(findings));
}

}  // namespace

Action doctor_command(Flags& flags) {
  flags.add_example("headrace doctor");
  flags.add_example("headrace doctor --json");
  return [](Console& console) { return run(console); };
}

}  // namespace headrace::cli
