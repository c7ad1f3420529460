// Messages in flight over shared links: max-min fair rates, as fluid.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/units.h"

namespace headrace {

/// Flows that cross resources of limited bandwidth. Rates are max-min fair: the most contended
/// resource is divided equally among its flows, then the next with what is left (progressive
/// filling; Bertsekas & Gallager, Data Networks, 6.5.2). Rates change only when a flow starts or
/// ends. O(flows x resources) per change.
class SharedLinks {
 public:
  explicit SharedLinks(std::vector<BytesPerSecond> resources) : capacity_(std::move(resources)) {}

  /// Starts moving `size` over `resources` at time `now`, which never goes back.
  void start(std::int64_t id, Bytes size, std::vector<int> resources, double now);

  /// The flow that ends first and when; equal times in the order of starting.
  struct Completion {
    std::int64_t id;
    double time;
  };
  [[nodiscard]] std::optional<Completion> next() const;

  /// Removes the flow of `next()` at its time.
  void finish(const Completion& completion);

 private:
  struct Flow {
    std::int64_t id;
    double left;  ///< Bytes.
    double rate;
    std::vector<int> resources;
  };
  void advance(double now);
  void share();

  std::vector<BytesPerSecond> capacity_;
  std::vector<Flow> flows_;
  double now_ = 0;
};

}  // namespace headrace
