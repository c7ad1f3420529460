// `headrace profile`: have the worker measure a model, and show what it found.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/json/documents.h"
#include "report/text_report.h"
#include "tools/headrace/command.h"
#include "tools/headrace/worker_process.h"

namespace headrace::cli {
namespace {

struct ProfileOptions {
  std::string model;
  std::string device = "cpu";
  std::optional<int> micro_batch;
  std::optional<int> sequence_length;
  std::string dtype;
  std::string optimizer;
  std::optional<int> load;
  std::optional<int> seed;
  std::optional<Seconds> time_limit;
};

Worker profiling_worker(const std::string& program, const ProfileOptions& options,
                        const std::string& file) {
  Worker worker{.name = "the profiling worker",
                .arguments = {program, "profile", options.model, "--device", options.device,
                              "--out", file, "--progress"}};
  const auto pass = [&](const char* flag, const std::string& value) {
    if (value.empty()) return;
    worker.arguments.emplace_back(flag);
    worker.arguments.push_back(value);
  };
  const auto number = [](const std::optional<int>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  pass("--micro-batch", number(options.micro_batch));
  pass("--seq", number(options.sequence_length));
  pass("--dtype", options.dtype);
  pass("--optimizer", options.optimizer);
  pass("--load", number(options.load));
  pass("--seed", number(options.seed));
  if (options.time_limit) pass("--time-limit", fmt::format("{}", options.time_limit->value()));
  return worker;
}

Result<void> run(const ProfileOptions& options, Console& console) {
  const auto program = find_worker();
  if (!program) return Failure(program.error());
  const auto folder = TemporaryFolder::make();
  if (!folder) return Failure(folder.error());
  const std::string file = folder->file("profile.json");
  const Worker worker = profiling_worker(*program, options, file);
  if (const auto outputs = run_with_progress(std::span(&worker, 1), console); !outputs) {
    return Failure(outputs.error());
  }
  const auto text = read_worker_file(file);
  if (!text) return Failure(text.error());
  const auto profile = profile_from_json(*text, file);
  if (!profile) return Failure(profile.error());
  return console.deliver(to_json(*profile), profile_text(*profile));
}

}  // namespace

Action profile_command(Flags& flags) {
  auto options = std::make_shared<ProfileOptions>();
  flags.add_positional("MODEL", text_into(options->model),
                       "model file, Hugging Face config.json, or example: gpt-small-demo");
  flags.add("--device", "NAME", text_into(options->device), "cpu (default)");
  flags.add("--micro-batch", "N", count_into(options->micro_batch),
            "samples at a time (default 1)");
  flags.add("--seq", "N", count_into(options->sequence_length), "tokens of a sample");
  flags.add("--dtype", "NAME", text_into(options->dtype), "fp32 (default)");
  flags.add("--optimizer", "NAME", choice_into(options->optimizer, {"sgd", "momentum", "adam"}),
            "whose step and state are measured (default adam)");
  flags.add("--load", "N", count_into(options->load),
            "cores busy while measuring, as in a run (default: up to 2)");
  flags.add("--seed", "N", count_into(options->seed, 0), "of weights and data");
  flags.add("--time-limit", "TIME", time_into(options->time_limit), "stop repeating after: 60s");
  flags.add_example("headrace profile encoder-4x512 --micro-batch 4 -o profile.json");
  flags.add_example("headrace profile gpt-small-demo --optimizer sgd --json");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
