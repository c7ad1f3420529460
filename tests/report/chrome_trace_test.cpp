#include "report/chrome_trace.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/support/simulation_builders.h"

using namespace headrace;
using headrace::testing::uniform_input;
using nlohmann::json;

TEST_SUITE_BEGIN("report/chrome_trace");

namespace {

std::vector<json> events_of(const Timeline& timeline, const std::string& phase) {
  std::vector<json> found;
  const json document = json::parse(chrome_trace(timeline));
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

TimelineEvent event_of(const std::string& action, int device, double start, double end) {
  return {DeviceId{device}, *action_from_text(action), Seconds(start), Seconds(end)};
}

}  // namespace

TEST_CASE("every action is a slice in microseconds on its device") {
  const auto run = simulate(uniform_input("1f1b", 2, 3, {.forward = 1e-3, .backward = 2e-3}));
  const auto slices = events_of(run->timeline, "X");
  REQUIRE(slices.size() == 12);
  CHECK(slices[0].at("name") == "0F0");
  CHECK(slices[0].at("ts") == 0);
  CHECK(slices[0].at("dur") == 1000);
  CHECK(slices[0].at("pid") == 0);
  CHECK(slices[0].at("tid") == 0);
}

TEST_CASE("an arrow joins every message between devices and ends where its receiver starts") {
  const auto run = simulate(uniform_input("gpipe", 3, 2, {.hop = 0.5}));
  const auto starts = events_of(run->timeline, "s");
  const auto ends = events_of(run->timeline, "f");
  REQUIRE(starts.size() == 8);  // 2 hops x 2 micro-batches, there and back
  for (std::size_t i = 0; i < starts.size(); ++i) {
    CHECK(starts[i].at("id") == ends[i].at("id"));
    CHECK(starts[i].at("pid") != ends[i].at("pid"));
    CHECK(starts[i].at("ts").get<double>() < ends[i].at("ts").get<double>());
  }
}

TEST_CASE("stages on one device send no message") {
  const Timeline timeline{.devices = 1,
                          .stages = 2,
                          .microbatches = 1,
                          .events = {event_of("0F0", 0, 0, 1), event_of("1F0", 0, 1, 2)}};
  CHECK(events_of(timeline, "s").empty());
}

TEST_CASE("sends and receives have threads of their own") {
  const Timeline timeline{.devices = 1,
                          .stages = 2,
                          .microbatches = 1,
                          .events = {event_of("0F0", 0, 0, 1), event_of("0SEND_F0", 0, 0.5, 2),
                                     event_of("0RECV_B0", 0, 0.5, 3)}};
  const auto slices = events_of(timeline, "X");
  CHECK(slices[0].at("tid") == 0);
  CHECK(slices[1].at("tid") == 1);
  CHECK(slices[2].at("tid") == 2);
}

TEST_CASE("slices of one thread never overlap whatever the events are") {
  std::mt19937_64 random(5);
  const char* const kinds[] = {"F", "B", "SEND_F", "RECV_F"};
  for (int round = 0; round < 200; ++round) {
    Timeline timeline{.devices = 2, .stages = 2, .microbatches = 40};
    for (int i = 0; i < 40; ++i) {
      const double start = 1e-9 * static_cast<double>(random() % 200);
      timeline.events.push_back(event_of("0" + std::string(kinds[random() % 4]) + std::to_string(i),
                                         static_cast<int>(random() % 2), start,
                                         start + 1.3e-9 * static_cast<double>(random() % 40)));
    }
    std::map<std::pair<int, int>, double> busy_until;
    for (const json& slice : events_of(timeline, "X")) {
      double& until = busy_until[{slice.at("pid"), slice.at("tid")}];
      REQUIRE(slice.at("ts").get<double>() >= until - 1e-9);
      until = slice.at("ts").get<double>() + slice.at("dur").get<double>();
    }
  }
}

TEST_CASE("memory is a counter of its device") {
  Timeline timeline{.devices = 1, .stages = 1, .microbatches = 1};
  timeline.memory = {{DeviceId{0}, Seconds{1e-6}, Bytes{42}}};
  const auto counters = events_of(timeline, "C");
  REQUIRE(counters.size() == 1);
  CHECK(counters[0].at("args").at("bytes") == 42);
  CHECK(counters[0].at("ts") == 1);
}
