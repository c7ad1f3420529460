#include "simulator/link_contention.h"

#include <doctest/doctest.h>

#include "core/schedule_csv.h"
#include "simulator/simulate.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using testing::uniform_input;

/// Two nodes of two devices; 10 B/s inside a node, 1 B/s between nodes.
Cluster two_nodes() {
  Cluster cluster;
  for (int d = 0; d < 4; ++d) {
    cluster.devices.push_back({.id = "d" + std::to_string(d), .node = d < 2 ? "left" : "right"});
  }
  cluster.intra_node = {.bandwidth = BytesPerSecond(10)};
  cluster.inter_node = {.latency = Seconds(0.5), .bandwidth = BytesPerSecond(1)};
  return cluster;
}

CommunicationModel shared(const Cluster& cluster, const Schedule& schedule,
                          const std::vector<int>& place) {
  MessageTraffic traffic{.schedule = schedule};
  for (const int d : place) traffic.place.push_back(DeviceId{d});
  traffic.output.assign(static_cast<std::size_t>(schedule.stages), Bytes{2});
  CommunicationModel model;
  share_links(cluster, traffic, model);
  return model;
}

TEST_SUITE_BEGIN("simulator/link_contention");

TEST_CASE("what leaves a node and what enters one goes through its network card") {
  const auto input = uniform_input("1f1b", 4, 4);
  // Stages 0 and 2 on the left node, 1 and 3 on the right: every border crosses.
  const CommunicationModel model = shared(two_nodes(), input.schedule, {0, 2, 1, 3});
  CHECK(model.forward_path[0].resources == model.forward_path[2].resources);
  CHECK(model.forward_path[0].latency == Seconds(0.5));
  CHECK(model.forward_path[1].resources == model.backward_path[0].resources);
  CHECK(model.resources.size() == 4);
  CHECK(model.forward_path[3].resources.empty());
}

TEST_CASE("devices of one node have a link per pair and direction") {
  const auto input = uniform_input("1f1b", 2, 2);
  const CommunicationModel model = shared(two_nodes(), input.schedule, {0, 1});
  CHECK(model.forward_path[0].resources != model.backward_path[0].resources);
  CHECK(model.resources == std::vector<BytesPerSecond>{BytesPerSecond(10), BytesPerSecond(10)});
}

TEST_CASE("a half-duplex link carries both directions and a group its smallest bandwidth") {
  const auto input = uniform_input("1f1b", 3, 2);
  Cluster cluster = two_nodes();
  cluster.links = {{.from = "d0",
                    .to = "d1",
                    .speed = {.bandwidth = BytesPerSecond(8)},
                    .duplex = Duplex::kHalf},
                   {.from = "d1",
                    .to = "d2",
                    .speed = {.bandwidth = BytesPerSecond(6)},
                    .duplex = Duplex::kHalf}};
  CommunicationModel model = shared(cluster, input.schedule, {0, 1, 2});
  CHECK(model.forward_path[0].resources == model.backward_path[0].resources);
  CHECK(model.forward_path[0].resources != model.forward_path[1].resources);
  for (Link& link : cluster.links) link.shared_with = "card";
  model = shared(cluster, input.schedule, {0, 1, 2});
  CHECK(model.resources == std::vector<BytesPerSecond>{BytesPerSecond(6)});
}

TEST_CASE("two messages through one network card take twice as long") {
  // Stages 0 -> 1 and 2 -> 3 leave the left node in the same second.
  SimulationInput input =
      testing::input_for(schedule_from_csv("0F0,0B0\n1F0,1B0\n2F0,2B0\n3F0,3B0\n", "test").value(),
                         {1, 1, 1, 1}, {1, 1, 1, 1});
  for (StageCost& stage : input.stages) stage.output = Bytes{2};
  input.schedule.pipelines = 2;
  input.schedule.microbatches = 2;
  for (const std::size_t row : {2U, 3U}) {
    for (Action& action : input.schedule.rows[row]) action.microbatch = MicrobatchId{1};
  }
  input.hop_forward.assign(4, Seconds(2.5));
  input.hop_backward = input.hop_forward;
  CHECK(simulated_iteration(input).value() == Seconds{9});  // 4 of work, 2 hops of 0.5 + 2.
  input.communication = shared(two_nodes(), input.schedule, {0, 2, 1, 3});
  CHECK(simulated_iteration(input).value() == Seconds{13});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
