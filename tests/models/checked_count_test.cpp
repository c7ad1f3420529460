#include "models/checked_count.h"

#include <limits>

#include <doctest/doctest.h>

namespace headrace {

TEST_SUITE_BEGIN("models/checked_count");

TEST_CASE("counts add and multiply") {
  const CheckedCount count = 3 * CheckedCount(4) + CheckedCount(5);
  CHECK(count.value() == 17);
  CHECK_FALSE(count.overflowed());
}

TEST_CASE("a product that leaves 63 bits says so") {
  const CheckedCount large(std::int64_t{1} << 32);
  CHECK((large * large).overflowed());
  CHECK_FALSE((large * CheckedCount((std::int64_t{1} << 31) - 1)).overflowed());
}

TEST_CASE("a sum that leaves 63 bits says so and stays so") {
  const CheckedCount most(std::numeric_limits<std::int64_t>::max());
  CheckedCount sum = most + CheckedCount(1);
  sum += CheckedCount(-5);
  CHECK(sum.overflowed());
  CHECK((CheckedCount(0) * sum).overflowed());
}

TEST_SUITE_END();

}  // namespace headrace
