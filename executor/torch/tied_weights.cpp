#include "executor/torch/tied_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include <torch/types.h>

#include "executor/collectives.h"
#include "executor/torch/tensor_bytes.h"
#include "models/model_catalogue.h"

namespace headrace {
namespace {

torch::Tensor gradient_of(const torch::Tensor& copy) {
  return copy.grad().defined() ? copy.grad() : torch::zeros_like(copy);
}

/// This device's share of a group's sum.
torch::Tensor local_sum(const TiedGroup& group) {
  torch::Tensor sum = gradient_of(group.copies.front()).clone();
  for (std::size_t i = 1; i < group.copies.size(); ++i) sum += gradient_of(group.copies[i]);
  return sum;
}

/// The first device adds up all shares in device order and gives the sum back.
Result<void> sum_over_devices(torch::Tensor& sum, const TiedGroup& group, Channel& channel,
                              Seconds timeout) {
  const int root = group.devices.front();
  if (channel.rank() != root) {
    if (auto ok = send_bytes(channel, {root, kTiedTag}, bytes_of(sum), timeout); !ok) return ok;
    const auto bytes = receive_bytes(channel, {root, kTiedTag}, timeout);
    if (!bytes) return Failure(bytes.error());
    return copy_bytes(*bytes, sum);
  }
  torch::Tensor share = torch::empty_like(sum);
  for (const int peer : std::span(group.devices).subspan(1)) {
    const auto bytes = receive_bytes(channel, {peer, kTiedTag}, timeout);
    if (!bytes) return Failure(bytes.error());
    if (auto ok = copy_bytes(*bytes, share); !ok) return ok;
    sum += share;
  }
  for (const int peer : std::span(group.devices).subspan(1)) {
    if (auto ok = send_bytes(channel, {peer, kTiedTag}, bytes_of(sum), timeout); !ok) return ok;
  }
  return {};
}

}  // namespace

Result<std::vector<TiedGroup>> tied_groups(const RunModel& model, const Schedule& schedule,
                                           DeviceId device,
                                           const std::vector<std::pair<int, StageModel*>>& stages) {
  const auto facts =
      layers_of(model.spec, model.options.micro_batch, model.options.sequence_length);
  if (!facts) return Failure(facts.error());
  std::map<std::string, TiedGroup> by_name;
  std::map<std::string, int> copies;
  std::size_t layer = 0;
  for (std::size_t s = 0; s < model.layers_of_stage.size(); ++s) {
    const auto here =
        std::ranges::find(stages, static_cast<int>(s), &std::pair<int, StageModel*>::first);
    for (std::size_t i = 0; i < model.layers_of_stage[s].size(); ++i, ++layer) {
      const std::string& name = (*facts)[layer].tie_group;
      if (name.empty()) continue;
      TiedGroup& group = by_name[name];
      ++copies[name];
      const int owner = number_of(schedule.device_of_stage[s]);
      if (std::ranges::find(group.devices, owner) == group.devices.end()) {
        group.devices.push_back(owner);
      }
      if (owner == number_of(device)) {
        group.copies.push_back(here->second->layers[i]->tied_weight());
      }
    }
  }
  std::vector<TiedGroup> groups;
  for (auto& [name, group] : by_name) {
    std::ranges::sort(group.devices);
    if (copies[name] > 1 && !group.copies.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

Result<void> sum_tied_gradients(const std::vector<TiedGroup>& groups, Channel& channel,
                                Seconds timeout) {
  const torch::NoGradGuard no_graph;
  for (const TiedGroup& group : groups) {
    torch::Tensor sum = local_sum(group);
    if (group.devices.size() > 1) {
      if (auto ok = sum_over_devices(sum, group, channel, timeout); !ok) return ok;
    }
    for (torch::Tensor copy : group.copies) {
      if (copy.grad().defined()) {
        copy.grad().copy_(sum);
      } else {
        copy.mutable_grad() = sum.clone();
      }
    }
  }
  return {};
}

}  // namespace headrace
