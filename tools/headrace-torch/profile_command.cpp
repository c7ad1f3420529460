// headrace-torch profile: measures a model on this machine and writes its profile.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "core/files.h"
#include "core/json/documents.h"
#include "models/model_source.h"
#include "profiler/cpu/cpu_profiler.h"
#include "tools/headrace-torch/command.h"
#include "tools/headrace-torch/link.h"
#include "tools/headrace-torch/progress.h"

namespace headrace::worker {
namespace {

struct ProfileFlags {
  std::string model;
  std::string device = "cpu";
  double time_limit_s = 60;
  std::string out;
  bool progress = false;
  CpuProfileOptions options;
};

Result<void> check_device(const std::string& device) {
  if (device == "cpu") return {};
  if (device.rfind("cuda", 0) == 0) {
    return Failure({.code = ErrorCode::kUnavailable,
                    .what = "this build measures layers on the CPU only; the GPU profiler is "
                            "missing",
                    .where = fmt::format("--device {}", device),
                    .fix = "use --device cpu, or import a profile measured on the GPU"});
  }
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("there is no device '{}'", device),
                  .where = "--device",
                  .fix = "use --device cpu"});
}

Result<void> run(ProfileFlags& flags) {
  if (auto device = check_device(flags.device); !device) return device;
  if (!(flags.time_limit_s > 0)) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} s are no time to measure in", flags.time_limit_s),
                    .where = "--time-limit",
                    .fix = "give a positive number of seconds"});
  }
  flags.options.time_limit = Seconds(flags.time_limit_s);
  if (flags.progress) flags.options.on_progress = print_progress;

  const Result<ModelSpec> spec = resolve_model(flags.model);
  if (!spec) return Failure(spec.error());
  // First, while this thread may still use all its cores: the two ends inherit them.
  if (flags.progress) print_progress(0, 1, "the link between two processes");
  const Result<LinkSpeed> link = measured_link(flags.out + ".link");
  if (!link) fmt::print(stderr, "the link was not measured: {}\n", link.error().what);

  Result<Profile> profile = profile_on_cpu(*spec, flags.model, flags.options);
  if (!profile) return Failure(profile.error());
  if (link) {
    profile->link = *link;
    profile->fingerprint = fingerprint_of(*profile);
  }
  return write_text(flags.out, to_json(*profile));
}

}  // namespace

Action profile_command(CLI::App& app) {
  auto flags = std::make_shared<ProfileFlags>();
  CpuProfileOptions& options = flags->options;
  app.add_option("model", flags->model, "Description, config.json or shipped example")->required();
  app.add_option("--device", flags->device, "What to measure on: cpu");
  app.add_option("--micro-batch", options.micro_batch, "Samples per micro-batch");
  app.add_option("--seq", options.sequence_length, "Sequence length; the model's own without");
  app.add_option("--dtype", options.dtype, "fp32, bf16 or fp64");
  app.add_option("--optimizer", options.optimizer, "sgd, momentum or adam");
  app.add_option("--load", options.load, "Cores at work while one is measured");
  app.add_option("--seed", options.seed, "Of weights and data");
  app.add_option("--max-repetitions", options.max_repetitions, "Most rounds");
  app.add_option("--time-limit", flags->time_limit_s, "Seconds to stop repeating after");
  app.add_option("--out", flags->out, "File for the profile")->required();
  app.add_flag("--progress", flags->progress, "Progress lines on stderr");
  return [flags] { return run(*flags); };
}

}  // namespace headrace::worker
