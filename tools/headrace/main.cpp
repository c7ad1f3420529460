// The table of contents of the tool: every command, in the order `--help` lists them.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "core/version.h"
#include "simulator/schedule_catalogue.h"
#include "tools/headrace/command.h"
#include "tools/headrace/config_file.h"

namespace headrace::cli {
namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  Action (*declare)(Flags&);
};

constexpr Command kCommands[] = {
    {"profile", "Measure a model layer by layer on this machine's devices.", profile_command},
    {"import", "Turn another tool's measurements into a profile.", import_command},
    {"plan", "Cut a profiled model into pipeline stages, as fast as the devices allow.",
     plan_command},
    {"simulate", "Predict one iteration of a plan, or of stage times given as flags.",
     simulate_command},
    {"whatif", "Vary a plan, or stage times given as flags, and rank what comes out by time.",
     whatif_command},
    {"run", "Run a plan, one process per device, and lay the prediction beside.", run_command},
    {"compare", "Lay a prediction (a plan, or what simulate wrote) beside measured runs.",
     compare_command},
    {"schema", "Print the JSON Schema of a document.", schema_command},
    {"doctor", "Say what this machine and this build can do.", doctor_command},
};

constexpr std::string_view kHelpTail = R"(every command:
  --json                exactly one JSON document on standard output, errors included
  -o,--output FILE      write the result document to FILE; - is standard output
  --quiet, -v           no progress and notes; also what is read, written and started
  --config FILE         settings in JSON, TOML or INI, named as the flags; flags win
  --dump-config         print the settings in effect as JSON, and do nothing else
  --help, --help-all    one screen; all flags of a command by subject
exit status: 0 ok  1 internal  2 usage  3 bad input  4 infeasible  5 beyond tolerance
             6 deadlock or timeout  7 not available here  130 interrupted
examples:
  headrace simulate --stages 4 --micro-batches 8 --forward 1ms --backward 2ms
  headrace import pipedream data/profiles/pipedream/vgg16.graph.txt -o profile.json
)";

struct CommonOptions {
  OutputOptions output;
  std::string config_file;
  bool dump_config = false;
  bool help = false;
  bool help_all = false;
};

void declare_common(Flags& flags, CommonOptions& options) {
  flags.begin_common();
  flags.add_switch("--json", options.output.json, "");
  flags.add("-o,--output", "FILE", text_into(options.output.file), "");
  flags.add_switch("--quiet", options.output.quiet, "");
  flags.add_switch("-v,--verbose", options.output.verbose, "");
  flags.add("--config", "FILE", text_into(options.config_file), "");
  flags.add_switch("--dump-config", options.dump_config, "");
  flags.add_switch("-h,--help", options.help, "");
  flags.add_switch("--help-all", options.help_all, "");
}

/// "schedules: a b c" in lines that fit a terminal of 100 columns.
std::string schedules_text() {
  std::string text = "schedules:";
  std::size_t width = text.size();
  for (const std::string_view name : schedule_names()) {
    if (width + 1 + name.size() > 100) {
      text += "\n          ";
      width = 10;
    }
    text.append(" ").append(name);
    width += 1 + name.size();
  }
  return text + "\n";
}

std::string main_help() {
  std::string text =
      "usage: headrace COMMAND [arguments]\n"
      "Plans pipeline-parallel training and proves the plan.\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<22}{}\n", command.name, command.summary);
  }
  return text.append(schedules_text()).append(kHelpTail);
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  return names;
}

Result<const Command*> command_named(const std::string& name) {
  const auto* const found = std::ranges::find(kCommands, name, &Command::name);
  if (found != std::end(kCommands)) return found;
  const bool flag = name.starts_with('-');
  return Failure({.code = ErrorCode::kUsage,
                  .what = flag ? fmt::format("'{}' stands where a command is expected", name)
                               : fmt::format("unknown command '{}'{}", name,
                                             did_you_mean(name, command_names())),
                  .where = "headrace",
                  .fix = "see headrace --help"});
}

/// Fills the flags' targets from the command line and the configuration file.
Result<void> read_flags(Flags& flags, CommonOptions& common,
                        const std::vector<std::string>& arguments) {
  if (auto ok = flags.parse(arguments); !ok) return ok;
  if (auto ok = flags.convert_common(); !ok || common.help || common.help_all) return ok;
  if (!common.config_file.empty()) {
    const auto settings = read_settings(common.config_file);
    if (!settings) return Failure(settings.error());
    const std::string source = common.config_file == "-" ? "standard input" : common.config_file;
    if (auto ok = flags.apply(*settings, source, command_names()); !ok) return ok;
    if (auto ok = flags.convert_common(); !ok) return ok;
  }
  return flags.convert();
}

Result<void> perform(const Command& command, const std::vector<std::string>& arguments,
                     CommonOptions& common) {
  Flags flags{std::string(command.name), std::string(command.summary)};
  const Action action = command.declare(flags);
  declare_common(flags, common);
  if (auto ok = read_flags(flags, common, arguments); !ok) return ok;
  if (common.help || common.help_all) return print(flags.help(common.help_all));
  if (common.dump_config) return print(flags.to_config());
  Console console(common.output);
  auto done = action(console);
  console.end_progress();
  return done;
}

/// Until the flags are read, --json is recognised by sight so that errors in them are documents.
OutputOptions options_by_sight(const std::vector<std::string>& arguments) {
  const auto given = [&](std::string_view flag) {
    return std::ranges::find(arguments, flag) != arguments.end();
  };
  return {.json = given("--json"), .quiet = given("--quiet")};
}

Result<void> dispatch(const std::vector<std::string>& arguments, CommonOptions& common) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    if (auto ok = print(main_help()); !ok || !arguments.empty()) return ok;
    return Failure({.code = ErrorCode::kUsage,
                    .what = "no command given",
                    .where = "headrace",
                    .fix = "name one of the commands above"});
  }
  if (arguments[0] == "--version") return print(fmt::format("headrace {}\n", kVersion));
  const auto command = command_named(arguments[0]);
  if (!command) return Failure(command.error());
  return perform(**command, {arguments.begin() + 1, arguments.end()}, common);
}

/// Out of memory, for one, is thrown by the standard library; no layer of ours throws on purpose.
Result<void> dispatch_safely(const std::vector<std::string>& arguments, CommonOptions& common) {
  try {
    return dispatch(arguments, common);
  } catch (const std::exception& problem) {
    return Failure({.code = ErrorCode::kInternal,
                    .what = problem.what(),
                    .where = "headrace",
                    .fix = "report this with the command line"});
  }
}

int status_of(const std::vector<std::string>& arguments) {
  CommonOptions common{.output = options_by_sight(arguments)};
  const auto done = dispatch_safely(arguments, common);
  if (done) return EXIT_SUCCESS;
  Console(common.output).report(done.error());
  return exit_status(done.error().code);
}

}  // namespace
}  // namespace headrace::cli

int main(int argc, char** argv) {
  headrace::cli::prepare_streams();
  return headrace::cli::status_of({argv + std::min(argc, 1), argv + argc});
}
