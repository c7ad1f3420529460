#include "simulator/shared_links.h"

#include <algorithm>
#include <limits>

namespace headrace {

SharedLinks::SharedLinks(const std::vector<BytesPerSecond>& resources) {
  for (const BytesPerSecond capacity : resources) {
    resources_.push_back({.capacity = capacity.value()});
  }
}

void SharedLinks::start(std::int64_t id, Bytes size, const std::vector<int>& resources,
                        double now) {
  std::size_t place = flows_.size();
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[place];
  flow.id = id;
  flow.left = static_cast<double>(size.value());
  flow.since = now;
  flow.rate = 0;
  flow.order = order_++;
  ++flow.version;
  flow.active = true;
  flow.resources = resources;
  for (const int number : resources) resource(number).flows.push_back(place);
  share(resources, now);
}

std::optional<SharedLinks::Completion> SharedLinks::next() {
  while (!ends_.empty()) {
    const auto& [time, order, place, version] = ends_.top();
    const Flow& flow = flows_[place];
    if (flow.active && flow.version == version) {
      return Completion{.id = flow.id, .time = time, .flow = place};
    }
    ends_.pop();
  }
  return std::nullopt;
}

void SharedLinks::finish(const Completion& completion) {
  Flow& flow = flows_[completion.flow];
  flow.active = false;
  for (const int number : flow.resources) std::erase(resource(number).flows, completion.flow);
  free_.push_back(completion.flow);
  share(flow.resources, completion.time);
}

/// All resources and flows that are linked with the changed ones.
void SharedLinks::gather(const std::vector<int>& changed) {
  ++mark_;
  near_resources_.clear();
  near_flows_.clear();
  const auto reach = [&](int number) {
    if (resource(number).seen == mark_) return;
    resource(number).seen = mark_;
    near_resources_.push_back(number);
  };
  for (const int number : changed) reach(number);
  for (std::size_t i = 0; i < near_resources_.size(); ++i) {
    for (const std::size_t flow : resource(near_resources_[i]).flows) {
      near_flows_.push_back(flow);
      for (const int number : flows_[flow].resources) reach(number);
    }
  }
  std::ranges::sort(near_flows_, {}, [&](std::size_t flow) { return flows_[flow].order; });
  near_flows_.erase(std::unique(near_flows_.begin(), near_flows_.end()), near_flows_.end());
}

void SharedLinks::share(const std::vector<int>& changed, double now) {
  gather(changed);
  for (const int number : near_resources_) {
    Resource& near = resource(number);
    near.left = near.capacity;
    near.users = static_cast<int>(near.flows.size());
  }
  fixed_.assign(near_flows_.size(), 0);
  for (std::size_t done = 0; done < near_flows_.size();) {
    double least = std::numeric_limits<double>::infinity();
    int tightest = -1;
    for (const int number : near_resources_) {
      const Resource& near = resource(number);
      if (near.users > 0 && near.left / near.users < least) {
        least = near.left / near.users;
        tightest = number;
      }
    }
    for (std::size_t f = 0; f < near_flows_.size(); ++f) {
      const Flow& flow = flows_[near_flows_[f]];
      const bool crosses =
          tightest < 0 || std::ranges::find(flow.resources, tightest) != flow.resources.end();
      if (fixed_[f] != 0 || !crosses) continue;
      fixed_[f] = 1;
      ++done;
      for (const int number : flow.resources) {
        resource(number).left -= least;
        --resource(number).users;
      }
      set_rate(near_flows_[f], least, now);
    }
  }
}

void SharedLinks::set_rate(std::size_t place, double rate, double now) {
  Flow& flow = flows_[place];
  if (rate == flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since));
  flow.since = now;
  flow.rate = rate;
  ++flow.version;
  ends_.emplace(now + flow.left / rate, flow.order, place, flow.version);
}

}  // namespace headrace
