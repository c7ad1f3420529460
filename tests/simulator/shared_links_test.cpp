#include "simulator/shared_links.h"

#include <algorithm>
#include <map>
#include <random>

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

/// A flow as the plain method below has it.
struct PlainFlow {
  std::int64_t id;
  double start;
  double left;
  std::vector<int> resources;
  double rate = 0;
};

/// Progressive filling over all flows at once.
void share_plainly(const std::vector<BytesPerSecond>& capacities, std::vector<PlainFlow>& flows) {
  std::vector<bool> fixed(flows.size(), false);
  std::vector<double> left;
  for (const BytesPerSecond capacity : capacities) left.push_back(capacity.value());
  const auto users = [&](std::size_t r) {
    int count = 0;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      count += !fixed[f] && std::ranges::count(flows[f].resources, static_cast<int>(r)) > 0 ? 1 : 0;
    }
    return count;
  };
  while (std::ranges::find(fixed, false) != fixed.end()) {
    std::size_t tightest = 0;
    double least = 1e300;
    for (std::size_t r = 0; r < left.size(); ++r) {
      const int count = users(r);
      if (count == 0 || left[r] / count >= least) continue;
      least = left[r] / count;
      tightest = r;
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (fixed[f] || std::ranges::count(flows[f].resources, static_cast<int>(tightest)) == 0) {
        continue;
      }
      fixed[f] = true;
      flows[f].rate = least;
      for (const int r : flows[f].resources) left[static_cast<std::size_t>(r)] -= least;
    }
  }
}

TEST_CASE("flows end when a plain method over all of them says so") {
  std::mt19937 random(3);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<BytesPerSecond> capacities;
    for (int r = between(1, 5); r > 0; --r) capacities.emplace_back(between(1, 9));
    std::vector<PlainFlow> coming;
    double start = 0;
    for (int id = 0; id < 8; ++id) {
      PlainFlow flow{id, start += between(0, 4), 1.0 * between(1, 60), {}};
      for (int r = 0; r < static_cast<int>(capacities.size()); ++r) {
        if (between(0, 2) == 0) flow.resources.push_back(r);
      }
      if (flow.resources.empty()) flow.resources = {0};
      coming.push_back(flow);
    }
    SharedLinks links(capacities);
    std::map<std::int64_t, double> ends;
    const auto finish_until = [&](double time) {
      for (auto next = links.next(); next && next->time <= time; next = links.next()) {
        ends[next->id] = next->time;
        links.finish(*next);
      }
    };
    for (const PlainFlow& flow : coming) {
      finish_until(flow.start);
      links.start(flow.id, Bytes(static_cast<std::int64_t>(flow.left)), flow.resources, flow.start);
    }
    finish_until(1e300);

    std::vector<PlainFlow> moving;
    double now = 0;
    std::size_t arrived = 0;
    while (arrived < coming.size() || !moving.empty()) {
      share_plainly(capacities, moving);
      double next = arrived < coming.size() ? coming[arrived].start : 1e300;
      for (const PlainFlow& flow : moving) next = std::min(next, now + flow.left / flow.rate);
      for (PlainFlow& flow : moving) flow.left -= flow.rate * (next - now);
      now = next;
      for (const PlainFlow& flow : moving) {
        if (flow.left < 1e-9) CHECK(ends[flow.id] == doctest::Approx(now));
      }
      std::erase_if(moving, [](const PlainFlow& flow) { return flow.left < 1e-9; });
      while (arrived < coming.size() && coming[arrived].start <= now) {
        moving.push_back(coming[arrived++]);
      }
    }
    CHECK(ends.size() == coming.size());
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
