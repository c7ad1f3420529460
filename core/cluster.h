// The devices a plan may use and the links between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/units.h"

namespace headrace {

/// One device of the cluster.
struct Device {
  std::string id;                    ///< Unique: "gpu0".
  std::string kind = {};             ///< "h100-sxm", "cpu-core", …
  std::string node = {};             ///< Devices of one node share the intra-node link.
  std::optional<Bytes> memory = {};  ///< Absent: no limit is known, none is enforced.
  double speed = 1;                  ///< Layer times are divided by this; 1 = the profiled device.
  friend bool operator==(const Device&, const Device&) = default;
};

/// Full: both directions at full speed. Half: they share it.
enum class Duplex { kFull, kHalf };

/// A link between two devices that differs from the defaults; it serves both directions.
struct Link {
  std::string from;
  std::string to;
  LinkSpeed speed;
  Duplex duplex = Duplex::kFull;
  std::string shared_with = {};  ///< Links of one non-empty group share one NIC.
  friend bool operator==(const Link&, const Link&) = default;
};

/// Devices in pipeline order and their links.
struct Cluster {
  std::vector<Device> devices;
  std::vector<Link> links = {};
  LinkSpeed intra_node = {};
  LinkSpeed inter_node = {};

  /// The speed between two devices by position; a link named in `links` wins over the defaults.
  [[nodiscard]] LinkSpeed link_between(DeviceId a, DeviceId b) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// Time of one message of `size` over `link`.
Seconds transfer_time(const LinkSpeed& link, Bytes size);

/// Fails with kBadInput (JSON pointer) on no device, a duplicate or empty id, a speed that is not
/// positive, a link to an unknown device or to itself, or a link named twice.
Result<void> validate(const Cluster& cluster);

/// `count` equal devices "device0".. on one node with one kind of link.
Cluster uniform_cluster(int count, std::optional<Bytes> memory, const LinkSpeed& link);

}  // namespace headrace
