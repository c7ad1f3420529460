#include "executor/runtime.h"

#include <future>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "executor/rank_threads.h"
#include "tests/support/recording_backend.h"
#include "tests/support/schedule_builders.h"

TEST_SUITE_BEGIN("executor/runtime");

namespace headrace::testing {
namespace {

// Two stages, four micro-batches, one forward and one backward in turn.
constexpr std::string_view kOneForwardOneBackward =
    "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n"
    "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n";

using Backends = std::vector<std::unique_ptr<RecordingBackend>>;

Backends backends_for(const Schedule& schedule, const BeforeAction& before = {}) {
  Backends backends;
  for (int rank = 0; rank < schedule.devices; ++rank) {
    backends.push_back(std::make_unique<RecordingBackend>(schedule, before));
  }
  return backends;
}

Result<std::vector<DeviceRecord>> run_all(const Schedule& schedule, Backends& backends,
                                          const RunOptions& options) {
  InProcessNetwork network(schedule.devices);
  return run_rank_threads(network, schedule.devices, [&](Channel& channel) {
    return run_device({.schedule = schedule,
                       .backend = *backends[static_cast<std::size_t>(channel.rank())],
                       .channel = channel,
                       .options = options});
  });
}

const RunOptions kOnce{.warmup = 0, .iterations = 1, .timeout = Seconds{30}};

}  // namespace

TEST_CASE("every device runs its row in order") {
  const Schedule schedule = schedule_of(kOneForwardOneBackward);
  Backends backends = backends_for(schedule);
  REQUIRE(run_all(schedule, backends, kOnce).has_value());
  CHECK(backends[0]->actions == schedule.rows[0]);
  CHECK(backends[1]->actions == schedule.rows[1]);
}

TEST_CASE("every message is there before the action that needs it") {
  const Schedule schedule = schedule_of(kOneForwardOneBackward);
  Backends backends = backends_for(schedule);
  REQUIRE(run_all(schedule, backends, kOnce).has_value());
  for (int m = 0; m < 4; ++m) {
    CHECK(backends[0]->input_gradient(m) == RecordingBackend::expected(2, m));
  }
}

TEST_CASE("random schedules with any placement carry every tensor to the right stage") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    const RandomShape shape{.devices = 1 + static_cast<int>(seed % 4),
                            .stages_per_device = 1 + static_cast<int>(seed / 4 % 3),
                            .microbatches = 1 + static_cast<int>(seed / 12 % 6),
                            .splits_backward = seed % 2 == 1};
    const Schedule schedule = RandomSchedule(shape, seed).make();
    REQUIRE(validate(schedule).has_value());
    Backends backends = backends_for(schedule);
    const auto records = run_all(schedule, backends, kOnce);
    REQUIRE_MESSAGE(records.has_value(), (records ? "" : to_string(records.error())));
    const auto first = index_of(schedule.device_of_stage[0]);
    for (int m = 0; m < shape.microbatches; ++m) {
      CHECK(backends[first]->input_gradient(m) == RecordingBackend::expected(schedule.stages, m));
    }
    for (std::size_t d = 0; d < backends.size(); ++d) {
      CHECK(backends[d]->actions == schedule.rows[d]);
    }
  }
}

TEST_CASE("every sent tensor is released once") {
  const Schedule schedule = schedule_of(kOneForwardOneBackward);
  Backends backends = backends_for(schedule);
  REQUIRE(run_all(schedule, backends, kOnce).has_value());
  CHECK(backends[0]->released.size() == 4);
  CHECK(backends[1]->released.size() == 4);
}

TEST_CASE("warm-up iterations are run and not recorded") {
  const Schedule schedule = schedule_of(kOneForwardOneBackward);
  Backends backends = backends_for(schedule);
  std::vector<int> progress;
  const RunOptions options{
      .warmup = 2, .iterations = 3, .timeout = Seconds{30}, .on_progress = [&](int done, int) {
        progress.push_back(done);
      }};
  const auto records = run_all(schedule, backends, options);
  REQUIRE(records.has_value());
  CHECK(backends[1]->iterations == 5);
  CHECK((*records)[1].size() == 3);
  CHECK(progress == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("a record has an event per action and per awaited message and two memory samples") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  Backends backends = backends_for(schedule);
  const auto records = run_all(schedule, backends, kOnce);
  REQUIRE(records.has_value());
  const IterationRecord& second = (*records)[1][0];
  REQUIRE(second.events.size() == 3);
  CHECK(to_string(second.events[0].action) == "1RECV_F0");
  CHECK(to_string(second.events[1].action) == "1F0");
  CHECK(to_string(second.events[2].action) == "1B0");
  CHECK(second.memory.size() == 4);
  CHECK(second.memory[0].bytes == Bytes{200});
  CHECK(second.finished >= second.events[2].end);
}

TEST_CASE("a message that does not come is named with rank and action and peer") {
  const Schedule schedule = schedule_of(kOneForwardOneBackward);
  std::promise<void> gave_up;
  const std::shared_future<void> other_gave_up = gave_up.get_future().share();
  RecordingBackend slow(schedule, [&](const Action& action) -> Result<void> {
    if (to_string(action) == "0F3") other_gave_up.wait();
    return {};
  });
  RecordingBackend waiting(schedule);
  InProcessNetwork network(2);
  const RunOptions options{.warmup = 0, .iterations = 1, .timeout = Seconds{0.4}};
  std::thread first([&] {
    const auto channel = network.channel(0);
    std::ignore = run_device({schedule, slow, *channel, options});
  });
  const auto channel = network.channel(1);
  const auto outcome = run_device({schedule, waiting, *channel, options});
  gave_up.set_value();
  network.close(1);
  first.join();
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().code == ErrorCode::kTimeout);
  CHECK(outcome.error().what == "rank 1 waited 0.4 s for 1RECV_F3 from rank 0");
  CHECK(outcome.error().where == "rank 1");
}

TEST_CASE("when a rank fails its own error is returned and nobody hangs") {
  const Schedule schedule = schedule_of(kOneForwardOneBackward);
  Backends backends = backends_for(schedule, [](const Action& action) -> Result<void> {
    if (to_string(action) != "1F2") return {};
    return Failure({.code = ErrorCode::kInternal, .what = "broken", .where = "1F2", .fix = "none"});
  });
  const auto records = run_all(schedule, backends, kOnce);
  REQUIRE_FALSE(records.has_value());
  CHECK(records.error().what == "broken");
}

TEST_CASE("a peer that has gone is named") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  RecordingBackend backend(schedule);
  InProcessNetwork network(2);
  network.close(0);
  const auto channel = network.channel(1);
  const auto outcome = run_device({schedule, backend, *channel, kOnce});
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().code == ErrorCode::kTimeout);
  CHECK(outcome.error().what ==
        "rank 1 lost rank 0 while it waited for a clock: rank 0 closed its connection");
}

TEST_CASE("a schedule for another number of ranks is refused") {
  const Schedule schedule = schedule_of("0F0,0B0\n1F0,1B0\n");
  RecordingBackend backend(schedule);
  InProcessNetwork network(3);
  const auto channel = network.channel(0);
  const auto outcome = run_device({schedule, backend, *channel, kOnce});
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().what == "made for 2 devices, run by 3 ranks");
}

TEST_CASE("an error after an iteration ends the run") {
  const Schedule schedule = schedule_of("0F0,0B0\n");
  RecordingBackend backend(schedule);
  InProcessNetwork network(1);
  const auto channel = network.channel(0);
  const auto outcome =
      run_device({schedule, backend, *channel, kOnce, [](int iteration) -> Result<void> {
                    return Failure({.code = ErrorCode::kMismatch,
                                    .what = "after " + std::to_string(iteration),
                                    .where = "check",
                                    .fix = "none"});
                  }});
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().what == "after 0");
}

}  // namespace headrace::testing
