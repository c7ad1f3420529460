// Cluster documents.
#include <set>
#include <string_view>
#include <utility>

#include "core/json/cluster_fields.h"
#include "core/json/document.h"
#include "core/json/documents.h"

namespace headrace {

NeededDefaults needed_defaults(const Cluster& cluster) {
  std::set<std::pair<std::string_view, std::string_view>> linked;
  for (const Link& link : cluster.links) {
    linked.insert(std::minmax<std::string_view>(link.from, link.to));
  }
  NeededDefaults needed;
  for (std::size_t a = 0; a < cluster.devices.size(); ++a) {
    for (std::size_t b = a + 1; b < cluster.devices.size(); ++b) {
      if (needed.intra_node && needed.inter_node) return needed;
      const Device& first = cluster.devices[a];
      const Device& second = cluster.devices[b];
      if (linked.contains(std::minmax<std::string_view>(first.id, second.id))) continue;
      (first.node == second.node ? needed.intra_node : needed.inter_node) = true;
    }
  }
  return needed;
}

Result<Cluster> cluster_from_json(std::string_view text, std::string_view source) {
  return read_document<Cluster>(text, source, "cluster");
}

std::string to_json(const Cluster& cluster) {
  return write_document(cluster, "cluster");
}

}  // namespace headrace
