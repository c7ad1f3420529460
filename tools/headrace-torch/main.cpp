// The LibTorch worker: measures layers and runs stages. Started by headrace, not by people: results
// go to files, an error becomes a document on stdout, progress lines go to stderr.
#include <climits>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <malloc.h>
#include <sys/prctl.h>

#include "core/json/documents.h"
#include "tools/headrace-torch/command.h"

namespace {

struct Verb {
  const char* name;
  const char* help;
  headrace::worker::Action (*add)(CLI::App&);
};

constexpr Verb kVerbs[] = {
    {"link", "Measure the hop between two processes", headrace::worker::link_command},
    {"profile", "Measure a model layer by layer", headrace::worker::profile_command},
    {"run", "Run one rank of a plan", headrace::worker::run_command},
    {"version", "Print the versions this worker was built from", headrace::worker::version_command},
};

// Freed memory stays with the process: pages that are returned and touched anew in the middle of a
// stage cost as much as computing on them, and are no part of what is planned.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
}

headrace::Error internal_error(const char* what) {
  return {.code = headrace::ErrorCode::kInternal,
          .what = what,
          .where = "headrace-torch",
          .fix = "report this with the command line"};
}

headrace::Result<void> run(const headrace::worker::Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return headrace::Failure({.code = headrace::ErrorCode::kUnavailable,
                              .what = "out of memory",
                              .where = "headrace-torch",
                              .fix = "use a smaller model, micro-batch or sequence"});
  } catch (const std::exception& thrown) {
    return headrace::Failure(internal_error(thrown.what()));
  }
}

int fail(const headrace::Error& error) {
  fmt::print("{}", to_json(error));
  return headrace::exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // Never outlive who asked for the work.
  keep_freed_memory();
  CLI::App app{"The LibTorch worker of headrace."};
  app.require_subcommand(1);

  headrace::worker::Action chosen;
  for (const Verb& verb : kVerbs) {
    CLI::App& sub = *app.add_subcommand(verb.name, verb.help);
    sub.callback([&chosen, action = verb.add(sub)] { chosen = action; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& usage) {
    if (usage.get_exit_code() == 0) return app.exit(usage);
    return fail({.code = headrace::ErrorCode::kUsage,
                 .what = usage.what(),
                 .where = "headrace-torch",
                 .fix = "see headrace-torch --help"});
  }

  const auto done = run(chosen);
  return done ? EXIT_SUCCESS : fail(done.error());
}
