#include <algorithm>

#include <doctest/doctest.h>

#include "executor/rank_threads.h"
#include "executor/torch/torch_run.h"
#include "simulator/schedule_catalogue.h"
#include "tests/support/plan_builders.h"
#include "tests/support/schedule_builders.h"

TEST_SUITE_BEGIN("executor/torch/torch_run");

namespace headrace::testing {
namespace {

/// GPipe with all backwards split: all I first, then all W.
std::string split_gpipe(int stages, int microbatches) {
  std::string csv;
  for (int s = 0; s < stages; ++s) {
    for (const std::string_view kind : {"F", "I", "W"}) {
      for (int m = 0; m < microbatches; ++m) {
        csv += fmt::format("{}{}{}{}", csv.empty() || csv.back() == '\n' ? "" : ",", s, kind, m);
      }
    }
    csv += '\n';
  }
  return csv;
}

Schedule named(const std::string& name, int stages, int microbatches) {
  const auto schedule = make_schedule(
      {.name = name, .devices = stages, .stages = stages, .microbatches = microbatches});
  REQUIRE(schedule.has_value());
  return *schedule;
}

/// Runs all ranks as threads; the outcome of rank 0.
Result<TorchRunOutcome> run_threads(const std::vector<TorchRunRequest>& requests) {
  const int ranks = static_cast<int>(requests.size());
  InProcessNetwork network(ranks);
  TorchRunOutcome first;
  const auto ran = run_rank_threads(network, ranks, [&](Channel& channel) -> Result<DeviceRecord> {
    auto outcome = run_torch_rank(requests[static_cast<std::size_t>(channel.rank())], channel);
    if (!outcome) return Failure(outcome.error());
    if (channel.rank() == 0) first = std::move(*outcome);
    return DeviceRecord{};
  });
  if (!ran) return Failure(ran.error());
  return first;
}

TorchRunRequest request_for(const Plan& plan, const Schedule& schedule) {
  return {.plan = plan,
          .schedule = schedule,
          .options = {.warmup = 1, .iterations = 3, .timeout = Seconds{60}},
          .numerics = true};
}

/// The same request on every rank.
Result<TorchRunOutcome> run_threads(const Plan& plan, const Schedule& schedule) {
  return run_threads(
      std::vector(static_cast<std::size_t>(schedule.devices), request_for(plan, schedule)));
}

void check_agrees(const ModelSpec& spec, const Schedule& schedule, std::string_view difference) {
  CAPTURE(spec.family);
  CAPTURE(schedule.name);
  const auto outcome =
      run_threads(runnable_plan(spec, schedule.stages, schedule.microbatches), schedule);
  REQUIRE_MESSAGE(outcome.has_value(), (outcome ? "" : to_string(outcome.error())));
  CHECK(outcome->numerics.find("agree with the unsplit model") != std::string::npos);
  CAPTURE(outcome->numerics);
  CHECK(outcome->numerics.find(difference) != std::string::npos);
  REQUIRE(outcome->timeline.has_value());
  CHECK(outcome->timeline->iterations.size() == 3);
}

}  // namespace

TEST_CASE("gradients of split models are bit-equal when every stage adds up in micro-batch order") {
  constexpr std::string_view kBitEqual = "largest relative difference 0.0e+00";
  for (const ModelSpec& spec : {tiny_gpt(), tiny_encoder(), tiny_mlp()}) {
    for (const int stages : {2, 4}) {
      check_agrees(spec, named("gpipe", stages, 6), kBitEqual);
      check_agrees(spec, named("1f1b", stages, 6), kBitEqual);
      check_agrees(spec, schedule_of(split_gpipe(stages, 6)), kBitEqual);
    }
  }
}

TEST_CASE("random schedules with stages in any place agree with the unsplit model") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    const RandomShape shape{.devices = 1 + static_cast<int>(seed % 3),
                            .stages_per_device = seed % 3 == 2 ? 1 : 2,
                            .microbatches = 3,
                            .splits_backward = seed % 2 == 1};
    const Schedule schedule = RandomSchedule(shape, seed).make();
    check_agrees(seed % 4 < 2 ? tiny_gpt() : tiny_mlp(), schedule, "numerics: loss");
  }
}

TEST_CASE("the timeline has every action and the memory of every device") {
  const Schedule schedule = named("1f1b", 2, 4);
  const auto outcome = run_threads(runnable_plan(tiny_mlp(), 2, 4), schedule);
  REQUIRE(outcome.has_value());
  const Timeline& timeline = *outcome->timeline;
  CHECK(timeline.source == TimelineSource::kMeasured);
  CHECK(std::ranges::count_if(timeline.events, [](const TimelineEvent& event) {
          return is_compute(event.action.kind);
        }) == 2 * 2 * 4);
  CHECK(timeline.memory.size() == 2 * 2 * 2 * 4);
  for (const MemorySample& sample : timeline.memory) CHECK(sample.bytes > Bytes{0});
  CHECK(makespan_of(timeline) > Seconds{0});
}

TEST_CASE("GPipe holds more activations than 1F1B on the first stage") {
  const Plan plan = runnable_plan(tiny_encoder(), 2, 8);
  const auto peak = [&](const std::string& name) {
    const auto outcome = run_threads(plan, named(name, 2, 8));
    REQUIRE(outcome.has_value());
    Bytes most{0};
    for (const MemorySample& sample : outcome->timeline->memory) {
      if (sample.device == DeviceId{0}) most = std::max(most, sample.bytes);
    }
    return most;
  };
  CHECK(peak("gpipe") > peak("1f1b"));
}

TEST_CASE("inference schedules run without gradients") {
  const Schedule schedule = schedule_of("0F0,0F1\n1F0,1F1\n");
  TorchRunRequest request = request_for(runnable_plan(tiny_mlp(), 2, 2), schedule);
  const auto refused = run_threads({request, request});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().where == "--numerics");
  request.numerics = false;
  CHECK(run_threads({request, request}).has_value());
}

TEST_CASE("ranks with different seeds are told apart before they run") {
  const Schedule schedule = named("1f1b", 2, 2);
  TorchRunRequest request = request_for(runnable_plan(tiny_mlp(), 2, 2), schedule);
  TorchRunRequest other = request;
  other.seed = 1;
  const auto refused = run_threads({request, other});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kBadInput);
  CHECK(refused.error().where == "rank 1");
}

TEST_CASE("an imported plan cannot be run with layers of ours") {
  Plan plan = runnable_plan(tiny_mlp(), 1, 1);
  plan.model.spec.reset();
  const auto refused = run_threads(plan, schedule_of("0F0,0B0\n"));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kBadInput);
  CHECK(refused.error().where == "plan: /model/spec");
}

TEST_CASE("stages that are not the model's layers in order are refused") {
  Plan plan = runnable_plan(tiny_mlp(), 2, 1);
  std::swap(plan.stages[0].layers[0], plan.stages[0].layers[1]);
  const auto refused = run_threads(plan, named("gpipe", 2, 1));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().what == "layer 'layers.1' stands where the model has 'layers.0'");
  CHECK(refused.error().where == "plan: /stages/0/layers/0");
}

TEST_CASE("a plan that leaves layers out is refused") {
  Plan plan = runnable_plan(tiny_mlp(), 2, 1);
  plan.stages[1].layers.pop_back();
  const auto refused = run_threads(plan, named("gpipe", 2, 1));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().what == "the stages hold 4 of the model's 5 layers");
}

TEST_CASE("what a run cannot do is refused by name") {
  Plan plan = runnable_plan(tiny_mlp(), 2, 1);
  plan.stages[1].recompute = {"layers.2"};
  CHECK(run_threads(plan, named("gpipe", 2, 1)).error().where == "plan: /stages/1/recompute");
  plan.parallel.tensor = 2;
  CHECK(run_threads(plan, named("gpipe", 2, 1)).error().where == "plan: /parallel");
}

}  // namespace headrace::testing
