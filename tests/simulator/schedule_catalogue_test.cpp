#include "simulator/schedule_catalogue.h"

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("simulator/schedule_catalogue");

/// Every schedule with the virtual stages it asks for, and more where it takes more.
template <typename Check>
void for_each_small_schedule(Check check) {
  for (const std::string_view name : schedule_names()) {
    for (int p = 1; p <= 6; ++p) {
      for (int m = 1; m <= 13; ++m) {
        for (int v = 1; v <= 3; ++v) {
          // Searched schedules need not be good here.
          std::map<std::string, std::string> parameters;
          if (looks_at_costs(name)) parameters = {{"effort", "0.001"}};
          check(make_schedule({.name = std::string(name),
                               .parameters = parameters,
                               .devices = p,
                               .stages = p * v,
                               .microbatches = m}));
        }
      }
    }
  }
}

TEST_CASE("every schedule that is made is complete and never waits for itself") {
  int made = 0;
  for_each_small_schedule([&](const Result<Schedule>& schedule) {
    if (!schedule) {
      CHECK(schedule.error().code == ErrorCode::kInfeasible);
      return;
    }
    ++made;
    REQUIRE(validate(*schedule).has_value());
    const auto stages = static_cast<std::size_t>(schedule->stages);
    const StageCost cost{.forward = Seconds{1},
                         .backward = Seconds{2},
                         .input_grad = Seconds{1},
                         .weight_grad = Seconds{1}};
    CHECK(simulated_iteration({.schedule = *schedule,
                               .stages = std::vector<StageCost>(stages, cost),
                               .hop_forward = std::vector<Seconds>(stages),
                               .hop_backward = std::vector<Seconds>(stages)})
              .has_value());
  });
  CHECK(made > 1000);
}

TEST_CASE("every schedule is made with the virtual stages that it asks for") {
  for (const std::string_view name : schedule_names()) {
    const int v = default_virtual_stages(name);
    CHECK(
        make_schedule({.name = std::string(name), .devices = 4, .stages = 4 * v, .microbatches = 8})
            .has_value());
  }
}

TEST_CASE("interleaving with a short last group is refused with the smallest valid group") {
  const ScheduleRequest request{
      .name = "interleaved", .devices = 4, .stages = 8, .microbatches = 10};
  CHECK(to_string(make_schedule(request).error()) ==
        "--schedule: groups of P = 4 leave a last group of 2 of 10 micro-batches, smaller than the "
        "pipeline\n"
        "  why: M mod N must be 0 or at least P: 10 mod 4 = 2 < 4\n"
        "  fix: use --schedule interleaved:group=5, or --micro-batches 12");
}

TEST_CASE("a short last group that the user forces can deadlock and says so") {
  const auto schedule = make_schedule({.name = "interleaved",
                                       .parameters = {{"group", "5"}},
                                       .devices = 5,
                                       .stages = 10,
                                       .microbatches = 7});
  REQUIRE(schedule.has_value());
  const SimulationInput input{.schedule = *schedule,
                              .stages = std::vector<StageCost>(10, {.forward = Seconds{1}}),
                              .hop_forward = std::vector<Seconds>(10),
                              .hop_backward = std::vector<Seconds>(10)};
  CHECK(simulate(input).error().code == ErrorCode::kDeadlock);
}

TEST_CASE("1f1b holds at most S minus s micro-batches on stage s") {
  const auto schedule =
      make_schedule({.name = "1f1b", .devices = 4, .stages = 4, .microbatches = 8}).value();
  CHECK(peak_in_flight(schedule) == std::vector<int>{4, 3, 2, 1});
}

TEST_CASE("an unknown schedule is a usage error with the nearest name") {
  const auto schedule = make_schedule({.name = "gpip"});
  REQUIRE_FALSE(schedule.has_value());
  CHECK(schedule.error().code == ErrorCode::kUsage);
  CHECK(schedule.error().what == "unknown schedule 'gpip' (did you mean 'gpipe'?)");
}

TEST_CASE("more stages than devices is infeasible with the arithmetic") {
  const auto schedule = make_schedule({.name = "1f1b", .devices = 4, .stages = 8});
  REQUIRE_FALSE(schedule.has_value());
  CHECK(schedule.error().code == ErrorCode::kInfeasible);
  CHECK(to_string(schedule.error()) ==
        "--schedule: 1f1b runs one stage per device, asked for 8 stages on 4 devices\n"
        "  fix: use --stages 4");
}

TEST_CASE("counts below one and beyond memory are refused") {
  CHECK(make_schedule({.microbatches = 0}).error().where == "--micro-batches");
  CHECK(make_schedule({.devices = 1000, .stages = 1000, .microbatches = 2'000'000'000})
            .error()
            .code == ErrorCode::kUsage);
}

TEST_CASE("parameters are read from the name") {
  const auto request = schedule_request_from_text("interleaved:group=6:order=x").value();
  CHECK(request.name == "interleaved");
  CHECK(request.parameters.at("group") == "6");
  CHECK(request.parameters.at("order") == "x");
  for (const char* wrong : {"", ":a=1", "x:", "x:=1", "x:a", "x:a=1:a=2"}) {
    CHECK_FALSE(schedule_request_from_text(wrong).has_value());
  }
}

TEST_CASE("a parameter that a schedule does not have is refused") {
  const auto schedule = make_schedule({.name = "1f1b", .parameters = {{"group", "6"}}});
  REQUIRE_FALSE(schedule.has_value());
  CHECK(schedule.error().what == "schedule '1f1b' has no parameter 'group'");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
