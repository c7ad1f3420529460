// `headrace schema`: print the JSON Schema of a document.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "core/json/documents.h"
#include "tools/headrace/command.h"

namespace headrace::cli {
namespace {

Result<void> run(const std::string& name, const Console& console) {
  const auto schema = schema_text(name);
  if (!schema) return Failure(schema.error());
  return console.deliver(*schema, *schema);
}

}  // namespace

Action schema_command(Flags& flags) {
  auto name = std::make_shared<std::string>();
  flags.add_positional("NAME", text_into(*name), fmt::format("{}", fmt::join(schema_names(), " ")));
  flags.add_example("headrace schema plan");
  flags.add_example("headrace schema profile -o profile.schema.json");
  return [name](Console& console) { return run(*name, console); };
}

}  // namespace headrace::cli
