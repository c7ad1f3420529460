#include "simulator/shared_links.h"

#include <algorithm>
#include <utility>

namespace headrace {

void SharedLinks::start(std::int64_t id, Bytes size, std::vector<int> resources, double now) {
  advance(now);
  flows_.push_back({.id = id,
                    .left = static_cast<double>(size.value()),
                    .rate = 0,
                    .resources = std::move(resources)});
  share();
}

std::optional<SharedLinks::Completion> SharedLinks::next() const {
  std::optional<Completion> first;
  for (const Flow& flow : flows_) {
    const double end = now_ + flow.left / flow.rate;
    if (!first || end < first->time) first = {.id = flow.id, .time = end};
  }
  return first;
}

void SharedLinks::finish(const Completion& completion) {
  advance(completion.time);
  std::erase_if(flows_, [&](const Flow& flow) { return flow.id == completion.id; });
  share();
}

void SharedLinks::advance(double now) {
  for (Flow& flow : flows_) flow.left = std::max(0.0, flow.left - flow.rate * (now - now_));
  now_ = now;
}

void SharedLinks::share() {
  std::vector<double> left;
  for (const BytesPerSecond capacity : capacity_) left.push_back(capacity.value());
  std::vector<int> users(capacity_.size(), 0);
  for (const Flow& flow : flows_) {
    for (const int resource : flow.resources) ++users[static_cast<std::size_t>(resource)];
  }
  std::vector<bool> fixed(flows_.size(), false);
  for (std::size_t done = 0; done < flows_.size();) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t tightest = capacity_.size();
    for (std::size_t r = 0; r < capacity_.size(); ++r) {
      if (users[r] > 0 && left[r] / users[r] < least) {
        least = left[r] / users[r];
        tightest = r;
      }
    }
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      Flow& flow = flows_[f];
      const bool crosses =
          tightest == capacity_.size() ||
          std::ranges::find(flow.resources, static_cast<int>(tightest)) != flow.resources.end();
      if (fixed[f] || !crosses) continue;
      fixed[f] = true;
      ++done;
      flow.rate = least;
      for (const int resource : flow.resources) {
        left[static_cast<std::size_t>(resource)] -= least;
        --users[static_cast<std::size_t>(resource)];
      }
    }
  }
}

}  // namespace headrace
