// The keys of a cluster, alone in its file or inside a plan.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/cluster.h"
#include "core/json/common_fields.h"
#include "core/json/field_rules.h"

namespace headrace {

template <typename At>
void describe(At& at, Of<Device> auto& device) {
  at.required("id", device.id);
  at.optional("kind", device.kind);
  at.optional("node", device.node);
  at.optional("memory_bytes", device.memory);
  at.defaulted("speed", device.speed, Range{.low = 1e-6, .high = 1e6});
}

template <typename At>
void describe(At& at, Of<Link> auto& link) {
  at.required("from", link.from);
  at.required("to", link.to);
  at.required("latency_s", link.speed.latency);
  at.required("bandwidth_bytes_per_s", link.speed.bandwidth);
  at.defaulted("duplex", link.duplex);
  at.optional("shared_with", link.shared_with);
}

/// Which of the default links some pair of devices relies on.
struct NeededDefaults {
  bool intra_node = false;
  bool inter_node = false;
};
NeededDefaults needed_defaults(const Cluster& cluster);

template <typename At>
void describe(At& at, Of<Cluster> auto& cluster) {
  at.required("devices", cluster.devices);
  at.defaulted("links", cluster.links);
  if constexpr (At::kReads) {
    if (at.has("devices")) {
      if (auto valid = validate(cluster); !valid) at.place().adopt(valid.error());
    }
    // A link that nobody described must not pass for an infinitely fast one.
    const NeededDefaults needed = at.place().failed() ? NeededDefaults{} : needed_defaults(cluster);
    const auto members = [&](auto& links) {
      const auto read_one = [&](std::string_view key, bool is_needed, LinkSpeed& speed) {
        is_needed ? links.required(key, speed) : links.defaulted(key, speed);
      };
      read_one("intra_node", needed.intra_node, cluster.intra_node);
      read_one("inter_node", needed.inter_node, cluster.inter_node);
    };
    if (needed.intra_node || needed.inter_node) {
      at.object("default_links", members);
    } else {
      at.object_if_present("default_links", members);
    }
  } else {
    at.object("default_links", [&](auto& links) {
      links.required("intra_node", cluster.intra_node);
      links.required("inter_node", cluster.inter_node);
    });
  }
}

}  // namespace headrace
