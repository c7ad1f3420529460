// Which actions set the length of a timeline, and why each of them started when it did.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/schedule.h"
#include "core/timeline.h"

namespace headrace {

/// Finds a timeline's compute events by action and by what must end before them.
class EventIndex {
 public:
  /// Keeps a reference to `timeline`, which must outlive this. O(events log events).
  explicit EventIndex(const Timeline& timeline);

  [[nodiscard]] std::optional<std::size_t> find(const Action& action) const;

  /// The compute event before this one on its device; nothing for the first.
  [[nodiscard]] std::optional<std::size_t> before_on_device(std::size_t event) const {
    return before_[event];
  }

  /// The event of another stage whose message this one needs: F of the stage before, B or I of the
  /// stage after; nothing where there is none.
  [[nodiscard]] std::optional<std::size_t> message_source(std::size_t event) const;

 private:
  const Timeline& timeline_;
  std::vector<std::size_t> by_action_;  ///< Compute events, sorted by kind, stage, micro-batch.
  std::vector<std::optional<std::size_t>> before_;
};

/// The chain of compute events that ends with the last one to end: each is the one before on the
/// device where that was busy until then, else the source of the message. Indices into
/// `timeline.events`, first to last. Empty for a timeline without compute events.
std::vector<std::size_t> critical_chain(const Timeline& timeline);

}  // namespace headrace
