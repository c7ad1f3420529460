#include <doctest/doctest.h>

#include "executor/rank_threads.h"
#include "executor/runtime.h"
#include "tests/support/schedule_builders.h"

TEST_SUITE_BEGIN("executor/record");

namespace headrace::testing {
namespace {

TimelineEvent event(int device, std::string_view action, double start, double end) {
  return {.device = DeviceId{device},
          .action = *action_from_text(action),
          .start = Seconds{start},
          .end = Seconds{end}};
}

/// Two devices whose iteration begins at `origin` and takes `length`, plus one for the optimizer.
std::vector<IterationRecord> iteration(double origin, double length) {
  return {{.events = {event(0, "0F0", origin, origin + 1),
                      event(0, "0B0", origin + 2, origin + length)},
           .memory = {{.device = DeviceId{0}, .time = Seconds{origin}, .bytes = Bytes{7}}},
           .finished = Seconds{origin + length + 1}},
          {.events = {event(1, "1RECV_F0", origin - 5, origin + 1),
                      event(1, "1F0", origin + 1, origin + 1.5),
                      event(1, "1B0", origin + 1.5, origin + 2)},
           .finished = Seconds{origin + 2}}};
}

std::vector<DeviceRecord> records_of_lengths(const std::vector<double>& lengths) {
  std::vector<DeviceRecord> records(2);
  double origin = 1000;
  for (const double length : lengths) {
    const auto both = iteration(origin, length);
    for (std::size_t d = 0; d < 2; ++d) records[d].push_back(both[d]);
    origin += 100;
  }
  return records;
}

}  // namespace

TEST_CASE("all iterations are listed with makespan and iteration time") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  const auto timeline =
      timeline_of(records_of_lengths({4, 9, 3}), schedule, TimelineSource::kMeasured);
  REQUIRE(timeline.iterations.size() == 3);
  CHECK(timeline.iterations[1] == IterationTime{Seconds{9}, Seconds{10}});
  CHECK(timeline.stages == 2);
  CHECK(timeline.devices == 2);
  CHECK(timeline.microbatches == 1);
}

TEST_CASE("the events are those of the median iteration and begin at zero") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  const auto timeline =
      timeline_of(records_of_lengths({9, 4, 3}), schedule, TimelineSource::kMeasured);
  CHECK(makespan_of(timeline) == Seconds{4});
  CHECK(timeline.events.front().start == Seconds{0});
  CHECK(timeline.memory.front().time == Seconds{0});
}

TEST_CASE("of two iterations the shorter is shown") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  const auto timeline =
      timeline_of(records_of_lengths({9, 4}), schedule, TimelineSource::kMeasured);
  CHECK(makespan_of(timeline) == Seconds{4});
}

TEST_CASE("waiting before the first action of the iteration is cut off") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  const auto timeline = timeline_of(records_of_lengths({4}), schedule, TimelineSource::kMeasured);
  CHECK(timeline.events[2].start == Seconds{0});
  CHECK(timeline.events[2].end == Seconds{1});
}

TEST_CASE("records arrive at rank 0 as they were") {
  const auto sent = records_of_lengths({4, 9, 3});
  InProcessNetwork network(2);
  std::vector<DeviceRecord> received;
  const auto ran = run_rank_threads(network, 2, [&](Channel& channel) -> Result<DeviceRecord> {
    auto all = gather_records(channel, sent[static_cast<std::size_t>(channel.rank())], Seconds{30});
    if (!all) return Failure(all.error());
    if (channel.rank() == 0) received = *all;
    return DeviceRecord{};
  });
  REQUIRE(ran.has_value());
  CHECK(received == sent);
}

}  // namespace headrace::testing
