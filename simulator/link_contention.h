// Which links and network cards the messages of a schedule share, from a cluster description.
#pragma once

#include <vector>

#include "core/cluster.h"
#include "core/schedule.h"
#include "simulator/communication.h"

namespace headrace {

/// Where every device of a schedule stands in a cluster, and what its stages send.
struct MessageTraffic {
  const Schedule& schedule;
  std::vector<DeviceId> place;  ///< By device of the schedule: its position in the cluster.
  std::vector<Bytes> output;    ///< By stage: message to the next one, and its gradient back.
};

/// Fills resources and paths of `model`. A named link has a resource of its own in each direction
/// (half duplex: one for both); links of one `shared_with` group share one of their smallest
/// bandwidth. Without a name, devices of one node have a link per pair and direction, and what
/// leaves or enters a node goes through that node's network card, one resource each way, shared by
/// the node's devices. Infinitely fast links share nothing. O(stages log stages).
void share_links(const Cluster& cluster, const MessageTraffic& traffic, CommunicationModel& model);

}  // namespace headrace
