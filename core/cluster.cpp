#include "core/cluster.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "core/check.h"

namespace headrace {
namespace {

Failure bad(std::string where, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

bool joins(const Link& link, const std::string& a, const std::string& b) {
  return (link.from == a && link.to == b) || (link.from == b && link.to == a);
}

}  // namespace

LinkSpeed Cluster::link_between(DeviceId a, DeviceId b) const {
  HEADRACE_CHECK(index_of(a) < devices.size() && index_of(b) < devices.size(),
                 "both devices belong to the cluster");
  const Device& from = devices[index_of(a)];
  const Device& to = devices[index_of(b)];
  if (a == b) return {};
  for (const Link& link : links) {
    if (joins(link, from.id, to.id)) return link.speed;
  }
  return from.node == to.node ? intra_node : inter_node;
}

Seconds transfer_time(const LinkSpeed& link, Bytes size) {
  if (link.bandwidth.value() <= 0) return link.latency;
  return link.latency + size / link.bandwidth;
}

Result<void> validate(const Cluster& cluster) {
  if (cluster.devices.empty()) {
    return bad("/devices", "a cluster needs at least one device", "list one device");
  }
  std::unordered_set<std::string> ids;
  for (std::size_t i = 0; i < cluster.devices.size(); ++i) {
    const Device& device = cluster.devices[i];
    const std::string where = fmt::format("/devices/{}", i);
    if (device.id.empty()) return bad(where + "/id", "a device without id", "name the device");
    if (!ids.insert(device.id).second) {
      return bad(where + "/id", fmt::format("device '{}' is listed twice", device.id),
                 "give every device an id of its own");
    }
    if (!(device.speed > 0) || !std::isfinite(device.speed)) {
      return bad(where + "/speed", fmt::format("speed {} is not positive", device.speed),
                 "1 is the profiled device, 2 one twice as fast");
    }
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < cluster.links.size(); ++i) {
    const Link& link = cluster.links[i];
    const std::string where = fmt::format("/links/{}", i);
    for (const std::string& end : {link.from, link.to}) {
      if (!ids.contains(end)) {
        return bad(where, fmt::format("link to '{}', which is no device", end),
                   "use the id of a listed device");
      }
    }
    if (link.from == link.to) {
      return bad(where, fmt::format("link of '{}' to itself", link.from), "remove it");
    }
    if (!seen.insert(std::minmax(link.from, link.to)).second) {
      return bad(where, fmt::format("'{}' and '{}' are linked twice", link.from, link.to),
                 "keep one of the two; a link serves both directions");
    }
  }
  return {};
}

Cluster uniform_cluster(int count, std::optional<Bytes> memory, const LinkSpeed& link) {
  Cluster cluster;
  for (int i = 0; i < count; ++i) {
    cluster.devices.push_back(
        {.id = fmt::format("device{}", i), .node = "node0", .memory = memory});
  }
  cluster.intra_node = link;
  cluster.inter_node = link;
  return cluster;
}

}  // namespace headrace
