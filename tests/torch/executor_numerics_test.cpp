#include <cmath>
#include <functional>

#include <doctest/doctest.h>
#include <torch/types.h>

#include "executor/rank_threads.h"
#include "executor/torch/numerics.h"
#include "tests/support/plan_builders.h"
#include "tests/support/schedule_builders.h"

TEST_SUITE_BEGIN("executor/torch/numerics");

namespace headrace::testing {
namespace {

constexpr Seconds kPatience{60};

/// Runs `iterations` on threads, rank r with models[r], and hands each backend to `look`.
Result<std::vector<DeviceRecord>> run_backends(
    const std::vector<RunModel>& models, const Schedule& schedule, int iterations,
    const std::function<Result<void>(TorchBackend&, Channel&)>& look) {
  InProcessNetwork network(schedule.devices);
  return run_rank_threads(network, schedule.devices, [&](Channel& channel) -> Result<DeviceRecord> {
    const auto backend =
        TorchBackend::make(models[static_cast<std::size_t>(channel.rank())], schedule, channel,
                           {.optimizer = "adam", .keep_first_gradients = true});
    if (!backend) return Failure(backend.error());
    auto record = run_device({.schedule = schedule,
                              .backend = **backend,
                              .channel = channel,
                              .options = {.warmup = 0, .iterations = iterations}});
    if (!record) return record;
    if (auto ok = look(**backend, channel); !ok) return Failure(ok.error());
    return record;
  });
}

RunModel model_with_seed(const ModelSpec& spec, const Schedule& schedule, std::uint64_t seed) {
  const auto model =
      run_model_of(runnable_plan(spec, schedule.stages, schedule.microbatches), seed);
  REQUIRE(model.has_value());
  return *model;
}

const torch::Tensor kReference = torch::tensor({1.0F, -2.0F, 0.5F});

}  // namespace

TEST_CASE("equal gradients differ by nothing and have ratio one") {
  const auto compared = compare_gradients("w", kReference.clone(), kReference, 2);
  CHECK(compared.difference == 0);
  CHECK(compared.ratio == doctest::Approx(1));
}

TEST_CASE("a gradient that is scaled by the number of micro-batches is found with its factor") {
  const auto compared = compare_gradients("w", kReference * 4, kReference, 2);
  CHECK(compared.difference == doctest::Approx(3));
  CHECK(compared.ratio == doctest::Approx(4));
}

TEST_CASE("rounding on a gradient that should be zero is no difference") {
  const auto compared =
      compare_gradients("w", torch::full({3}, 2e-12F), torch::full({3}, 1e-12F), 1);
  CHECK(compared.difference < 1e-5);
}

TEST_CASE("a gradient that is not a number differs infinitely") {
  const auto compared = compare_gradients("w", kReference * NAN, kReference, 2);
  CHECK(std::isinf(compared.difference));
}

TEST_CASE("a stage with other weights is caught and the first parameter is named") {
  const Schedule schedule = schedule_of("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  const RunModel right = model_with_seed(tiny_mlp(), schedule, 0);
  const RunModel wrong = model_with_seed(tiny_mlp(), schedule, 1);
  const auto ran = run_backends(
      {right, wrong}, schedule, 1, [&](TorchBackend& backend, Channel& channel) -> Result<void> {
        const auto report = check_numerics(right, schedule, backend, channel, kPatience);
        if (!report) return Failure(report.error());
        return {};
      });
  REQUIRE_FALSE(ran.has_value());
  CHECK(ran.error().code == ErrorCode::kMismatch);
  CHECK(ran.error().what.starts_with("gradient of layers.0."));
}

TEST_CASE("copies of a tied weight on two devices stay equal over several steps") {
  const Schedule schedule = schedule_of("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  const RunModel model = model_with_seed(tiny_gpt(), schedule, 0);
  std::vector<torch::Tensor> copies(2);
  const auto ran = run_backends(
      {model, model}, schedule, 3, [&](TorchBackend& backend, Channel& channel) -> Result<void> {
        const StageModel& stage = backend.stages().begin()->second;
        const auto& layer = channel.rank() == 0 ? stage.layers.front() : stage.layers.back();
        copies[static_cast<std::size_t>(channel.rank())] = layer->tied_weight().detach().clone();
        return {};
      });
  REQUIRE(ran.has_value());
  CHECK(torch::equal(copies[0], copies[1]));
  const auto untouched = build_stage(model, {"embedding"});
  CHECK_FALSE(torch::equal(copies[0], untouched->layers[0]->tied_weight()));
}

TEST_CASE("an iteration leaves no memory behind") {
  const Schedule schedule = schedule_of("0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
  const RunModel model = model_with_seed(tiny_encoder(), schedule, 0);
  const auto ran = run_backends({model, model}, schedule, 4,
                                [](TorchBackend&, Channel&) -> Result<void> { return {}; });
  REQUIRE(ran.has_value());
  for (const DeviceRecord& record : *ran) {
    // The first allocates gradients and optimizer state.
    for (std::size_t i = 2; i < record.size(); ++i) {
      CHECK(record[i].memory.back().bytes == record[1].memory.back().bytes);
    }
  }
}

}  // namespace headrace::testing
