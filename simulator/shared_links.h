// Messages in flight over shared links: max-min fair rates, as fluid.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/units.h"

namespace headrace {

/// Flows that cross resources of limited bandwidth. Rates are max-min fair: the most contended
/// resource is divided equally among its flows, then the next with what is left (progressive
/// filling; Bertsekas & Gallager, Data Networks, 6.5.2). Rates change only when a flow starts or
/// ends, and only among flows that are linked by resources in common with it.
/// O(flows x resources of that part + log flows) per change.
class SharedLinks {
 public:
  explicit SharedLinks(const std::vector<BytesPerSecond>& resources);

  /// Starts moving `size` over `resources` at time `now`, which never goes back.
  void start(std::int64_t id, Bytes size, const std::vector<int>& resources, double now);

  /// The flow that ends first and when; equal times in the order of starting.
  struct Completion {
    std::int64_t id;
    double time;
    std::size_t flow;  ///< For `finish`.
  };
  [[nodiscard]] std::optional<Completion> next();

  /// Removes the flow of `next()` at its time.
  void finish(const Completion& completion);

 private:
  struct Flow {
    std::int64_t id = 0;
    double left = 0;  ///< Bytes, at `since`.
    double since = 0;
    double rate = 0;
    std::uint64_t order = 0;    ///< Of starting.
    std::uint64_t version = 0;  ///< Of its end in `ends_`; older ones are void.
    bool active = false;
    std::vector<int> resources = {};
  };
  struct Resource {
    double capacity = 0;
    std::vector<std::size_t> flows = {};
    double left = 0;  ///< While rates are found.
    int users = 0;
    std::uint64_t seen = 0;  ///< Mark of the last search that reached it.
  };
  using End = std::tuple<double, std::uint64_t, std::size_t, std::uint64_t>;

  Resource& resource(int number) { return resources_[static_cast<std::size_t>(number)]; }
  void share(const std::vector<int>& changed, double now);
  void gather(const std::vector<int>& changed);
  void set_rate(std::size_t flow, double rate, double now);

  std::vector<Resource> resources_;
  std::vector<Flow> flows_;
  std::vector<std::size_t> free_;  ///< Unused places in flows_.
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t order_ = 0;
  std::uint64_t mark_ = 0;
  std::vector<int> near_resources_;      ///< The part that a change reaches.
  std::vector<std::size_t> near_flows_;  ///< In the order of starting.
  std::vector<char> fixed_;              ///< By place in near_flows_.
};

}  // namespace headrace
