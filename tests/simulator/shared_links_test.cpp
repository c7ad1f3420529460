#include "simulator/shared_links.h"

#include <map>

#include <doctest/doctest.h>

namespace headrace {
namespace {

/// When every flow ends, by id.
std::map<std::int64_t, double> all_ends(SharedLinks& links) {
  std::map<std::int64_t, double> ends;
  while (const auto next = links.next()) {
    ends[next->id] = next->time;
    links.finish(*next);
  }
  return ends;
}

TEST_SUITE_BEGIN("simulator/shared_links");

TEST_CASE("a flow alone gets the whole link") {
  SharedLinks links({BytesPerSecond(10)});
  links.start(0, Bytes(100), {0}, 2);
  CHECK(all_ends(links) == std::map<std::int64_t, double>{{0, 12}});
}

TEST_CASE("two flows halve the link and the second speeds up when the first ends") {
  // until 10: 5 B/s each, flow 0 is done with its 50 B; flow 1 has 50 of 100 B left: 5 s more.
  SharedLinks links({BytesPerSecond(10)});
  links.start(0, Bytes(50), {0}, 0);
  links.start(1, Bytes(100), {0}, 0);
  CHECK(all_ends(links) == std::map<std::int64_t, double>{{0, 10}, {1, 15}});
}

TEST_CASE("a flow that starts later slows the one that is under way") {
  SharedLinks links({BytesPerSecond(10)});
  links.start(0, Bytes(100), {0}, 0);
  links.start(1, Bytes(25), {0}, 5);
  CHECK(all_ends(links) == std::map<std::int64_t, double>{{1, 10}, {0, 12.5}});
}

TEST_CASE("what a flow cannot use on its narrow link is left to others") {
  // Resource 0 has 10 B/s for flows a and b; b also crosses resource 1 with 2 B/s: a gets 8.
  SharedLinks links({BytesPerSecond(10), BytesPerSecond(2)});
  links.start(0, Bytes(80), {0}, 0);
  links.start(1, Bytes(20), {0, 1}, 0);
  CHECK(all_ends(links) == std::map<std::int64_t, double>{{0, 10}, {1, 10}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
