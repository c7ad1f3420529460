#include "planner/placed_costs.h"

#include <algorithm>
#include <bit>

#include "planner/memory.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

PlacedCosts::PlacedCosts(const Profile& profile, const Cluster& cluster, const PlanRequest& request)
    : request_(request), time_{0}, state_{0}, activation_{0} {
  std::vector<std::int64_t> workspaces;
  for (const LayerId id : profile.graph.chain_order()) {
    const Layer& layer = profile.graph.layer(id);
    const bool forward_only = request.passes == Passes::kForwardOnly;
    const Seconds work = layer.forward.mean + (forward_only ? Seconds{0} : layer.backward.mean);
    time_.push_back(time_.back() + work.value());
    state_.push_back(state_.back() +
                     (layer.parameters + layer.gradients + layer.optimizer).value());
    activation_.push_back(activation_.back() + layer.saved_activation.value());
    workspaces.push_back(layer.workspace.value());
    has_ties_ |= !layer.tie_group.empty();
  }
  for (const Bytes bytes : profile.graph.border_bytes()) border_.push_back(bytes.value());
  workspace_.push_back(std::move(workspaces));
  for (std::size_t width = 1; 2 * width <= workspace_[0].size(); width *= 2) {
    const std::vector<std::int64_t>& half = workspace_.back();
    std::vector<std::int64_t> whole;
    for (std::size_t i = 0; i + width < half.size(); ++i) {
      whole.push_back(std::max(half[i], half[i + width]));
    }
    workspace_.push_back(std::move(whole));
  }
  places_.resize(cluster.devices.size());
  for (int s = 0; s < request.stages; ++s) {
    const std::size_t d = device_of(request, s);
    const Device& device = cluster.devices[d];
    Place& place = places_[d];
    place.speed = device.speed;
    place.stages.push_back(s);
    if (!device.memory) continue;
    place.limited = true;
    place.capacity =
        (*device.memory - memory_margin(*device.memory, request.memory_margin)).value();
  }
}

Seconds PlacedCosts::busiest(const Borders& borders) const {
  double busiest = 0;
  for (const Place& place : places_) {
    double time = 0;
    for (const int s : place.stages)
      time += time_[at(borders[at(s) + 1])] - time_[at(borders[at(s)])];
    busiest = std::max(busiest, time / place.speed);
  }
  return Seconds(busiest);
}

Bytes PlacedCosts::sent(const Borders& borders) const {
  std::int64_t bytes = 0;
  for (std::size_t s = 1; s + 1 < borders.size(); ++s) bytes += border_[at(borders[s])];
  return Bytes(bytes);
}

Bytes PlacedCosts::missing(const Borders& borders) const {
  std::int64_t missing = 0;
  for (std::size_t d = 0; d < places_.size(); ++d) {
    if (places_[d].limited) missing += missing_on(d, borders);
  }
  return Bytes(missing);
}

std::int64_t PlacedCosts::missing_on(std::size_t device, const Borders& borders) const {
  const Place& place = places_[device];
  std::int64_t sum = 0;
  std::int64_t workspace = 0;
  for (const int s : place.stages) {
    const int first = borders[at(s)];
    const int last = borders[at(s) + 1];
    sum += state_[at(last)] - state_[at(first)] + border_[at(first)] + border_[at(last)];
    workspace = std::max(workspace, largest_workspace(first, last));
  }
  std::int64_t held = 0;
  for (const std::vector<int>& counts : request_.held_together[device]) {
    std::int64_t now = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto s = at(place.stages[i]);
      now += (activation_[at(borders[s + 1])] - activation_[at(borders[s])]) * counts[i];
    }
    held = std::max(held, now);
  }
  return std::max<std::int64_t>(0, sum + workspace + held - place.capacity);
}

std::int64_t PlacedCosts::largest_workspace(int first, int last) const {
  const auto level = static_cast<std::size_t>(std::bit_width(at(last - first)) - 1);
  const std::vector<std::int64_t>& table = workspace_[level];
  return std::max(table[at(first)], table[at(last) - (std::size_t{1} << level)]);
}

}  // namespace headrace
