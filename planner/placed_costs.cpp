#include "planner/placed_costs.h"

#include <algorithm>

#include "planner/memory.h"

namespace headrace {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

PlacedCosts::PlacedCosts(const ChainProblem& problem, const Cluster& cluster,
                         const PlanRequest& request)
    : request_(request), chain_(problem), places_(cluster.devices.size()) {
  for (int s = 0; s < request.stages; ++s) {
    places_[device_of(request, s)].stages.push_back(s);
  }
  for (std::size_t d = 0; d < places_.size(); ++d) {
    const auto& memory = cluster.devices[d].memory;
    places_[d].limited = memory && !places_[d].stages.empty();
    if (!places_[d].limited) continue;
    places_[d].capacity = (*memory - memory_margin(*memory, request.memory_margin)).value();
  }
}

std::int64_t PlacedCosts::busiest(const Borders& borders) const {
  std::int64_t busiest = 0;
  for (const Place& place : places_) {
    std::int64_t time = 0;
    for (const int s : place.stages) time += chain_.time(s, borders[at(s)], borders[at(s) + 1]);
    busiest = std::max(busiest, time);
  }
  return busiest;
}

Bytes PlacedCosts::sent(const Borders& borders) const {
  std::int64_t bytes = 0;
  for (std::size_t s = 1; s + 1 < borders.size(); ++s) bytes += chain_.border_bytes(borders[s]);
  return Bytes(bytes);
}

Bytes PlacedCosts::missing(const Borders& borders) const {
  std::int64_t missing = 0;
  for (std::size_t d = 0; d < places_.size(); ++d) {
    if (!places_[d].limited) continue;
    missing += std::max<std::int64_t>(0, memory_of(d, borders) - places_[d].capacity);
  }
  return Bytes(missing);
}

std::int64_t PlacedCosts::memory_of(std::size_t device, const Borders& borders) const {
  const Place& place = places_[device];
  std::int64_t sum = 0;
  std::int64_t workspace = 0;
  for (const int s : place.stages) {
    const int first = borders[at(s)];
    const int last = borders[at(s) + 1];
    sum += chain_.state(first, last) + chain_.border_bytes(first) + chain_.border_bytes(last);
    workspace = std::max(workspace, chain_.largest_workspace(first, last));
  }
  std::int64_t held = 0;
  for (const std::vector<int>& counts : request_.held_together[device]) {
    std::int64_t now = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto s = at(place.stages[i]);
      now += chain_.activation(borders[s], borders[s + 1]) * counts[i];
    }
    held = std::max(held, now);
  }
  return sum + workspace + held;
}

}  // namespace headrace
