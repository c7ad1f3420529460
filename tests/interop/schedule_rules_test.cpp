#include "interop/schedule_rules.h"

#include <doctest/doctest.h>

namespace headrace {
namespace {

Result<void> torch(const char* schedule, int devices, int stages, int microbatches) {
  return check_schedule(
      Framework::kTorch,
      {.schedule = schedule, .devices = devices, .stages = stages, .microbatches = microbatches});
}

TEST_SUITE_BEGIN("interop/schedule_rules");

TEST_CASE("names of frameworks are read back") {
  for (const auto framework :
       {Framework::kMegatron, Framework::kTorch, Framework::kDeepSpeed, Framework::kZeroBubble}) {
    CHECK(framework_from_name(name_of(framework)) == framework);
  }
  CHECK_FALSE(framework_from_name("jax").has_value());
}

TEST_CASE("torch's V schedules want two stages per device") {
  CHECK(torch("zbv", 4, 8, 1).has_value());
  CHECK(torch("zbv", 4, 4, 8).error().fix == "use --stages 8");
  CHECK(torch("dualpipev", 4, 8, 8).has_value());
  CHECK(torch("dualpipev", 4, 8, 7).error().fix == "use --micro-batches 8");
}

TEST_CASE("torch's 1F1B wants as many micro-batches as stages and its GPipe any") {
  CHECK(torch("1f1b", 4, 4, 4).has_value());
  CHECK(torch("1f1b", 4, 4, 3).error().fix == "use --micro-batches 4");
  CHECK(torch("gpipe", 4, 4, 1).has_value());
}

TEST_CASE("a schedule that a framework does not have is refused with those that it has") {
  const auto refused = check_schedule(Framework::kDeepSpeed, {.schedule = "1f1B"});
  CHECK(to_string(refused.error()) ==
        "--schedule: deepspeed has no schedule '1f1B' (did you mean '1f1b'?)\n"
        "  fix: use one of 1f1b, forward-only");
}

TEST_CASE("zero-bubble's interleaved schedule wants whole rounds") {
  const auto refused =
      check_schedule(Framework::kZeroBubble,
                     {.schedule = "interleaved", .devices = 4, .stages = 8, .microbatches = 10});
  CHECK(refused.error().fix == "use --micro-batches 12");
}

TEST_CASE("the smallest accepted change is accepted and nothing between is") {
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 40; ++m) {
      const auto checked = torch("interleaved", p, 2 * p, m);
      if (checked) continue;
      const int fixed = std::stoi(checked.error().fix.substr(sizeof("use --micro-batches")));
      CHECK(torch("interleaved", p, 2 * p, fixed).has_value());
      for (int between = m + 1; between < fixed; ++between) {
        CHECK_FALSE(torch("interleaved", p, 2 * p, between).has_value());
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
