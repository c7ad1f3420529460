#include "simulator/recompute.h"

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/critical_path.h"
#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

Schedule csv(const std::string& text) {
  return schedule_from_csv(text, "test").value();
}

TEST_SUITE_BEGIN("simulator/recompute");

TEST_CASE("R stands before every backward of the marked stages") {
  const Schedule schedule = with_recompute(csv("0F0,0B0\n1F0,1I0,1W0\n"), {true, true});
  CHECK(to_csv(schedule) == "0F0,0R0,0B0\n1F0,1R0,1I0,1W0\n");
  CHECK(validate(schedule).has_value());
  CHECK(to_csv(with_recompute(csv("0F0,0B0\n1F0,1B0\n"), {false, true})) ==
        "0F0,0B0\n1F0,1R0,1B0\n");
}

TEST_CASE("an overlapped pair goes behind its R") {
  const Schedule schedule = with_recompute(csv("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n"), {true});
  CHECK(to_csv(schedule) == "0F0,0R0,(0F1;0B0)OVERLAP_F_B,0R1,0B1\n");
}

TEST_CASE("R runs while the gradient is awaited") {
  // Without R device 0 waits from 2 to 5; R0 fits in there, R1 too.
  SimulationInput input{.schedule = with_recompute(csv("0F0,0B0\n1F0,1B0\n"), {true, false})};
  input.stages.assign(2, {.forward = Seconds{1}, .backward = Seconds{2}, .recompute = Seconds{1}});
  input.hop_forward.assign(2, Seconds{0});
  input.hop_backward = input.hop_forward;
  CHECK(simulate(input).value().report.makespan == Seconds{6});
}

TEST_CASE("R before its forward and R behind its backward are refused") {
  CHECK_FALSE(schedule_from_csv("0R0,0F0,0B0\n", "test").has_value());
  CHECK_FALSE(schedule_from_csv("0F0,0B0,0R0\n", "test").has_value());
  CHECK_FALSE(schedule_from_csv("0F0,0R0,0R0,0B0\n", "test").has_value());
}

TEST_CASE("recomputing everything costs one forward more per micro-batch in a full pipeline") {
  for (const char* name : {"gpipe", "1f1b"}) {
    const auto schedule =
        make_schedule({.name = name, .devices = 4, .stages = 4, .microbatches = 16}).value();
    SimulationInput input{.schedule = with_recompute(schedule, std::vector<bool>(4, true))};
    input.stages.assign(4,
                        {.forward = Seconds{1}, .backward = Seconds{2}, .recompute = Seconds{1}});
    input.hop_forward.assign(4, Seconds{0});
    input.hop_backward = input.hop_forward;
    const double time = simulate(input).value().report.makespan.value();
    CHECK(time <= 19 * 4);
    CHECK(time >= 16 * 4 + 3 * 3);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
