#include "simulator/link_contention.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/core.h>

namespace headrace {
namespace {

/// Hands out one resource per name.
class Resources {
 public:
  explicit Resources(std::vector<BytesPerSecond>& bandwidths) : bandwidths_(bandwidths) {}

  int named(const std::string& name, BytesPerSecond bandwidth) {
    const auto [found, fresh] = numbers_.emplace(name, static_cast<int>(bandwidths_.size()));
    if (fresh) {
      bandwidths_.push_back(bandwidth);
    } else {
      BytesPerSecond& known = bandwidths_[static_cast<std::size_t>(found->second)];
      known = std::min(known, bandwidth);
    }
    return found->second;
  }

 private:
  std::vector<BytesPerSecond>& bandwidths_;
  std::map<std::string, int> numbers_;
};

const Link* link_named(const Cluster& cluster, const std::string& a, const std::string& b) {
  const auto found = std::ranges::find_if(cluster.links, [&](const Link& link) {
    return (link.from == a && link.to == b) || (link.from == b && link.to == a);
  });
  return found == cluster.links.end() ? nullptr : &*found;
}

MessagePath path_between(const Cluster& cluster, DeviceId from, DeviceId to, Bytes size,
                         Resources& resources) {
  const LinkSpeed speed = cluster.link_between(from, to);
  MessagePath path{.latency = speed.latency, .size = size};
  if (speed.bandwidth <= BytesPerSecond{0}) return path;
  const Device& a = cluster.devices[index_of(from)];
  const Device& b = cluster.devices[index_of(to)];
  if (const Link* link = link_named(cluster, a.id, b.id)) {
    const std::string direction = link->duplex == Duplex::kHalf ? ""
                                  : a.id == link->from          ? ">"
                                                                : "<";
    const std::string name = link->shared_with.empty()
                                 ? fmt::format("link {} {}", link->from, link->to)
                                 : fmt::format("group {}", link->shared_with);
    path.resources = {resources.named(name + direction, speed.bandwidth)};
  } else if (a.node == b.node) {
    path.resources = {resources.named(fmt::format("pair {} {}", a.id, b.id), speed.bandwidth)};
  } else {
    path.resources = {resources.named(fmt::format("out of {}", a.node), speed.bandwidth),
                      resources.named(fmt::format("into {}", b.node), speed.bandwidth)};
  }
  return path;
}

}  // namespace

void share_links(const Cluster& cluster, const MessageTraffic& traffic, CommunicationModel& model) {
  const auto stages = static_cast<std::size_t>(traffic.schedule.stages);
  model.resources.clear();
  model.forward_path.assign(stages, {});
  model.backward_path.assign(stages, {});
  Resources resources(model.resources);
  for (std::size_t s = 0; s + 1 < stages; ++s) {
    const DeviceId from = traffic.schedule.device_of_stage[s];
    const DeviceId to = traffic.schedule.device_of_stage[s + 1];
    if (from == to || is_last_stage(traffic.schedule, static_cast<int>(s))) continue;
    const DeviceId a = traffic.place[index_of(from)];
    const DeviceId b = traffic.place[index_of(to)];
    model.forward_path[s] = path_between(cluster, a, b, traffic.output[s], resources);
    model.backward_path[s] = path_between(cluster, b, a, traffic.output[s], resources);
  }
}

}  // namespace headrace
