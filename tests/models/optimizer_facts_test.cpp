#include "models/optimizer_facts.h"

#include <doctest/doctest.h>

namespace headrace {

TEST_SUITE_BEGIN("models/optimizer_facts");

TEST_CASE("adam keeps two values for a parameter and momentum one") {
  CHECK(optimizer_state_per_parameter("sgd").value() == 0);
  CHECK(optimizer_state_per_parameter("momentum").value() == 1);
  CHECK(optimizer_state_per_parameter("adam").value() == 2);
}

TEST_CASE("an unknown optimizer is a usage error with what was probably meant") {
  const auto state = optimizer_state_per_parameter("adem");
  REQUIRE_FALSE(state.has_value());
  CHECK(state.error().code == ErrorCode::kUsage);
  CHECK(to_string(state.error()) ==
        "--optimizer: there is no optimizer 'adem' (did you mean 'adam'?)\n"
        "  fix: use one of sgd, momentum, adam");
}

TEST_SUITE_END();

}  // namespace headrace
