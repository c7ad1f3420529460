#include "core/cluster.h"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

namespace headrace {
namespace {

constexpr LinkSpeed kFast{.latency = Seconds(1), .bandwidth = BytesPerSecond(100)};
constexpr LinkSpeed kSlow{.latency = Seconds(2), .bandwidth = BytesPerSecond(10)};
constexpr LinkSpeed kNamed{.latency = Seconds(3), .bandwidth = BytesPerSecond(50)};

/// a and b on one node, c on another; a and c have a link of their own.
Cluster three_devices() {
  return {.devices = {{.id = "a", .node = "n"}, {.id = "b", .node = "n"}, {.id = "c", .node = "m"}},
          .links = {{.from = "c", .to = "a", .speed = kNamed}},
          .intra_node = kFast,
          .inter_node = kSlow};
}

std::string problem(const Cluster& cluster) {
  const auto valid = validate(cluster);
  return valid.has_value() ? "valid" : to_string(valid.error());
}

TEST_SUITE_BEGIN("core/cluster");

TEST_CASE("a named link wins in both directions and nodes decide the rest") {
  const Cluster cluster = three_devices();
  CHECK(cluster.link_between(DeviceId{0}, DeviceId{1}) == kFast);
  CHECK(cluster.link_between(DeviceId{1}, DeviceId{2}) == kSlow);
  CHECK(cluster.link_between(DeviceId{0}, DeviceId{2}) == kNamed);
  CHECK(cluster.link_between(DeviceId{2}, DeviceId{0}) == kNamed);
  CHECK(cluster.link_between(DeviceId{1}, DeviceId{1}) == LinkSpeed{});
}

TEST_CASE("a message costs latency and bytes over bandwidth") {
  CHECK(transfer_time(kSlow, Bytes(40)) == Seconds(6));
  CHECK(transfer_time({.latency = Seconds(2)}, Bytes(1 << 30)) == Seconds(2));
}

TEST_CASE("uniform clusters are valid and have one kind of link") {
  const Cluster cluster = uniform_cluster(3, Bytes(7), kFast);
  CHECK(problem(cluster) == "valid");
  CHECK(cluster.devices[2].id == "device2");
  CHECK(cluster.devices[2].memory == Bytes(7));
  CHECK(cluster.link_between(DeviceId{0}, DeviceId{2}) == kFast);
}

TEST_CASE("devices have ids of their own") {
  CHECK(problem(three_devices()) == "valid");
  CHECK(problem({}) == "/devices: a cluster needs at least one device\n  fix: list one device");
  Cluster cluster = three_devices();
  cluster.devices[1].id = "a";
  CHECK(problem(cluster).starts_with("/devices/1/id: device 'a' is listed twice\n"));
  cluster.devices[1].id = "";
  CHECK(problem(cluster).starts_with("/devices/1/id: a device without id\n"));
}

TEST_CASE("speeds are positive and finite") {
  for (const double speed : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    Cluster cluster = three_devices();
    cluster.devices[2].speed = speed;
    CHECK(problem(cluster).starts_with("/devices/2/speed: speed "));
  }
}

TEST_CASE("links join two different devices and each pair once") {
  Cluster cluster = three_devices();
  cluster.links[0].to = "x";
  CHECK(problem(cluster).starts_with("/links/0: link to 'x', which is no device\n"));
  cluster.links[0].to = "c";
  CHECK(problem(cluster).starts_with("/links/0: link of 'c' to itself\n"));
  cluster.links = {{.from = "a", .to = "b"}, {.from = "b", .to = "a"}};
  CHECK(problem(cluster).starts_with("/links/1: 'b' and 'a' are linked twice\n"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
