// O08: which micro-batch counts are legal where, and what the illegal ones would take.
#include <doctest/doctest.h>

#include "interop/schedule_rules.h"
#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

using doctest::Approx;

ScheduleUse interleaved(int devices, int microbatches, std::optional<int> group = {}) {
  return {.schedule = "interleaved",
          .devices = devices,
          .stages = 2 * devices,
          .microbatches = microbatches,
          .group = group};
}

/// P = 4, V = 2, chunk F = 0.5, B = 1.
double makespan(int microbatches, int group) {
  const auto schedule = make_schedule({.name = "interleaved",
                                       .parameters = {{"group", std::to_string(group)}},
                                       .devices = 4,
                                       .stages = 8,
                                       .microbatches = microbatches});
  return simulate({.schedule = schedule.value(),
                   .stages =
                       std::vector<StageCost>(8, {.forward = Seconds(0.5), .backward = Seconds{1}}),
                   .hop_forward = std::vector<Seconds>(8),
                   .hop_backward = std::vector<Seconds>(8)})
      .value()
      .report.makespan.value();
}

TEST_SUITE_BEGIN("acceptance/micro_batch_rules");

TEST_CASE("O08 Megatron refuses fewer micro-batches than devices and says where they come from") {
  const Error error = check_schedule(Framework::kMegatron, interleaved(6, 3)).error();
  CHECK(error.what == "interleaved: need at least 6 micro-batches; you have 3 = GBS/(MBS·DP)");
  CHECK(error.fix == "use --micro-batches 6");
  ScheduleUse known = interleaved(6, 3);
  known.global_batch = 12;
  known.micro_batch_size = known.data = 2;
  const Error with_batch = check_schedule(Framework::kMegatron, known).error();
  CHECK(with_batch.what ==
        "interleaved: need at least 6 micro-batches; you have 3 = GBS/(MBS·DP) = 12/(2·2)");
  CHECK(with_batch.fix == "use --micro-batches 6 (a global batch of 24)");
}

TEST_CASE("O08 Megatron's groups for ten micro-batches on four devices are 5 and 6 and 10") {
  CHECK(valid_groups(4, 10) == std::vector<int>{5, 6, 10});
  const Error error = check_schedule(Framework::kMegatron, interleaved(4, 10, 4)).error();
  CHECK(error.what == "interleaved: 10 mod 4 = 2 < 4");
  CHECK(error.fix == "use --schedule interleaved:group=N with N = 5, 6, 10");
  for (int n = 1; n <= 12; ++n) {
    const bool valid = n == 5 || n == 6 || n == 10;
    CHECK(check_schedule(Framework::kMegatron, interleaved(4, 10, n)).has_value() == valid);
  }
}

TEST_CASE("O08 torch takes counts that make equal rounds") {
  CHECK(check_schedule(Framework::kTorch, interleaved(4, 10)).has_value());
  CHECK(check_schedule(Framework::kTorch, interleaved(4, 7)).has_value());
  CHECK(check_schedule(Framework::kTorch, interleaved(4, 9)).error().fix ==
        "use --micro-batches 10");
  CHECK(check_schedule(Framework::kTorch, interleaved(4, 11)).error().fix ==
        "use --micro-batches 12");
}

TEST_CASE("O08 what legal and forced groups take") {
  CHECK(makespan(10, 5) == Approx(34.5));
  CHECK(makespan(10, 6) == Approx(34.5));
  CHECK(makespan(10, 10) == Approx(34.5));
  CHECK(makespan(10, 4) == Approx(39.5));
  CHECK(makespan(12, 4) == Approx(40.5));
  CHECK(makespan(8, 4) == Approx(28.5));
}

TEST_CASE("O08 1F1B with fewer micro-batches than stages ends") {
  for (int m = 1; m <= 3; ++m) {
    const auto schedule =
        make_schedule({.name = "1f1b", .devices = 4, .stages = 4, .microbatches = m});
    const auto outcome = simulate(
        {.schedule = schedule.value(),
         .stages = std::vector<StageCost>(4, {.forward = Seconds{1}, .backward = Seconds{2}}),
         .hop_forward = std::vector<Seconds>(4),
         .hop_backward = std::vector<Seconds>(4)});
    CHECK(outcome->report.makespan.value() == Approx(9 + 3 * m));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
