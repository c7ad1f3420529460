// O16: where the time of a measured trace went.
#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

using doctest::Approx;

TimelineEvent event(int device, const char* action, double start, double end) {
  return {.device = DeviceId{device},
          .action = action_from_text(action).value(),
          .start = Seconds(start * 1e-6),
          .end = Seconds(end * 1e-6)};
}

/// Microseconds. The kernels of a pair overlap while something moves:
///   rank 0 compute  |0 ------ 40|             |70 ----- 100|
///          messages      |20 25|  |40 ------- 70|
///   rank 1 compute       |25 ------------ 65|
///          messages |0 - 25|              |65 70|
Timeline measured() {
  return {.source = TimelineSource::kMeasured,
          .devices = 2,
          .stages = 2,
          .microbatches = 2,
          .events = {event(0, "0F0", 0, 20), event(0, "0F1", 20, 40), event(0, "0SEND_F0", 20, 25),
                     event(0, "0RECV_B0", 40, 70), event(0, "0B0", 70, 100),
                     event(1, "1RECV_F0", 0, 25), event(1, "1F0", 25, 45), event(1, "1B0", 45, 65),
                     event(1, "1SEND_B0", 65, 70)}};
}

double us(Seconds time) {
  return time.value() * 1e6;
}

TEST_SUITE_BEGIN("acceptance/trace_accounting");

TEST_CASE("O16 a transfer is where both ends are at work and the rest of a kernel is waiting") {
  const Simulation report = account(measured(), {DeviceId{0}, DeviceId{1}}, {}, {});
  const DeviceReport& first = report.per_device[0];
  CHECK(us(first.busy) == Approx(70));
  CHECK(us(first.exposed_communication) == Approx(5));
  CHECK(us(first.wait) == Approx(25));
  CHECK(us(first.idle) == Approx(0));
  const DeviceReport& second = report.per_device[1];
  CHECK(us(second.busy) == Approx(40));
  CHECK(us(second.exposed_communication) == Approx(10));
  CHECK(us(second.wait) == Approx(20));
  CHECK(us(second.idle) == Approx(30));
}

TEST_CASE("O16 message kernels are not work") {
  const Simulation report = account(measured(), {DeviceId{0}, DeviceId{1}}, {}, {});
  CHECK(report.per_device[0].utilisation == Approx(0.7));
  CHECK(report.per_device[1].utilisation == Approx(0.4));
  CHECK(report.bubble_ratio == Approx(0.45));
}

TEST_CASE("the parts of every device add up to the makespan") {
  Timeline timeline = measured();
  for (const double moved : {0.0, 5.0, 12.0, 30.0}) {
    timeline.events[5].end = Seconds(moved * 1e-6);
    const Simulation report = account(timeline, {DeviceId{0}, DeviceId{1}}, {}, {});
    for (const DeviceReport& device : report.per_device) {
      CHECK(us(device.busy + device.exposed_communication + device.wait + device.idle) ==
            Approx(100));
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
