// `headrace import`: another tool's file becomes a profile.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "core/json/documents.h"
#include "interop/importers.h"
#include "report/text_report.h"
#include "tools/headrace/command.h"
#include "tools/headrace/documents.h"

namespace headrace::cli {
namespace {

struct ImportOptions {
  std::string kind;
  std::string file;
};

Result<void> run(const ImportOptions& options, const Console& console) {
  const auto source = read_source(options.file);
  if (!source) return Failure(source.error());
  auto profile = import_profile(options.kind, source->text, source->source);
  if (!profile) return Failure(profile.error());
  profile->fingerprint = fingerprint_of(*profile);
  return console.deliver(to_json(*profile), profile_text(*profile));
}

}  // namespace

Action import_command(Flags& flags) {
  auto options = std::make_shared<ImportOptions>();
  flags.add_positional("KIND", text_into(options->kind),
                       fmt::format("whose file it is: {}", fmt::join(importer_names(), " ")));
  flags.add_positional("FILE", text_into(options->file), "the file; - is standard input");
  flags.add_example("headrace import pipedream data/profiles/pipedream/vgg16.graph.txt");
  flags.add_example(
      "headrace import pipedream data/profiles/pipedream/vgg16.graph.txt -o profile.json");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
