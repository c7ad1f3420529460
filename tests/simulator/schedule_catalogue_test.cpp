#include "simulator/schedule_catalogue.h"

#include <doctest/doctest.h>

#include "core/schedule_csv.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("simulator/schedule_catalogue");

TEST_CASE("every schedule is valid for all small counts") {
  for (const std::string_view name : schedule_names()) {
    for (int p = 1; p <= 6; ++p) {
      for (int m = 1; m <= 9; ++m) {
        const auto schedule = make_schedule(
            {.name = std::string(name), .devices = p, .stages = p, .microbatches = m});
        REQUIRE(schedule.has_value());
        CHECK(validate(*schedule).has_value());
      }
    }
  }
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
