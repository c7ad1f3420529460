#include "executor/in_process_network.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/check.h"
#include "executor/precise_wait.h"

namespace headrace {
namespace {

constexpr auto kSpin = std::chrono::microseconds(20);

/// The n-th message of one tag from one rank.
struct MessageKey {
  int from = 0;
  int tag = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};

struct InTransit {
  std::vector<std::byte> bytes;
  RunClock::time_point arrival;
};

/// Everything on its way to one rank; a lock each, so that 64 ranks do not wake each other.
struct Inbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<MessageKey, InTransit> messages;
};

}  // namespace

/// What all channels of one network share.
struct InProcessState {
  InProcessState(int world, MessageDelay message_delay)
      : inboxes(static_cast<std::size_t>(world)),
        closed(static_cast<std::size_t>(world)),
        delay(std::move(message_delay)) {}

  [[nodiscard]] bool is_closed(int rank) {
    const std::lock_guard lock(closed_mutex);
    return closed[static_cast<std::size_t>(rank)];
  }

  void close(int rank) {
    {
      const std::lock_guard lock(closed_mutex);
      closed[static_cast<std::size_t>(rank)] = true;
    }
    for (Inbox& inbox : inboxes) {
      // Taken once, so that a waiter is either before its check or asleep when it is woken.
      { const std::lock_guard lock(inbox.mutex); }
      inbox.changed.notify_all();
    }
  }

  std::vector<Inbox> inboxes;
  std::mutex closed_mutex;
  std::vector<bool> closed;
  MessageDelay delay;
};

namespace {

Failure peer_gone(int peer) {
  return Failure({.code = ErrorCode::kTimeout,
                  .what = fmt::format("rank {} closed its connection", peer),
                  .where = fmt::format("rank {}", peer),
                  .fix = "read what that rank reports"});
}

/// A receive that was posted and not yet waited for.
struct PostedReceive {
  MessageKey key;
  std::span<std::byte> bytes;
};

class InProcessChannel final : public Channel {
 public:
  InProcessChannel(InProcessState& state, int rank)
      : Channel(rank, static_cast<int>(state.inboxes.size())), state_(state) {}

  Result<Ticket> post_send(Address to, std::span<const std::byte> bytes) override {
    HEADRACE_CHECK(to.peer != rank(), "a rank cannot write to itself");
    if (state_.is_closed(to.peer)) return peer_gone(to.peer);
    const double delay = state_.delay ? state_.delay(rank(), to.peer, to.tag).value() : 0;
    InTransit message{.bytes = {bytes.begin(), bytes.end()},
                      .arrival = RunClock::now() + clock_duration(delay)};
    const MessageKey key{rank(), to.tag, sent_[{to.peer, to.tag}]++};
    Inbox& inbox = state_.inboxes[static_cast<std::size_t>(to.peer)];
    {
      const std::lock_guard lock(inbox.mutex);
      inbox.messages.emplace(key, std::move(message));
    }
    inbox.changed.notify_all();
    return Ticket{next_ticket_++};
  }

  Result<Ticket> post_receive(Address from, std::span<std::byte> bytes) override {
    HEADRACE_CHECK(from.peer != rank(), "a rank cannot read from itself");
    const MessageKey key{from.peer, from.tag, posted_[{from.peer, from.tag}]++};
    receives_.emplace(next_ticket_, PostedReceive{.key = key, .bytes = bytes});
    return Ticket{next_ticket_++};
  }

  Result<bool> wait(Ticket ticket, RunClock::time_point deadline) override {
    const auto found = receives_.find(static_cast<std::uint64_t>(ticket));
    if (found == receives_.end()) return true;  // A send: done when it was posted.
    const PostedReceive receive = found->second;
    receives_.erase(found);
    Inbox& inbox = state_.inboxes[static_cast<std::size_t>(rank())];
    InTransit message;
    {
      std::unique_lock lock(inbox.mutex);
      while (!inbox.messages.contains(receive.key)) {
        if (state_.is_closed(receive.key.from)) return peer_gone(receive.key.from);
        if (RunClock::now() >= deadline) return false;
        wait_for_change(inbox, lock, deadline);
      }
      message = std::move(inbox.messages.extract(receive.key).mapped());
    }
    wait_until(std::min(message.arrival, deadline), kSpin);
    if (message.arrival > deadline) return false;
    HEADRACE_CHECK(message.bytes.size() == receive.bytes.size(), "both ends agree on the size");
    std::ranges::copy(message.bytes, receive.bytes.begin());
    return true;
  }

  void close() override {
    receives_.clear();
    state_.close(rank());
  }

 private:
  /// The system clock, in short slices: the thread sanitizer of g++ 12 does not know the call that
  /// waits on the steady clock (pthread_cond_clockwait) and would report races that are none.
  static void wait_for_change(Inbox& inbox, std::unique_lock<std::mutex>& lock,
                              RunClock::time_point deadline) {
    constexpr RunClock::duration kSlice = std::chrono::milliseconds(100);
    const auto slice = std::min(kSlice, deadline - RunClock::now());
    inbox.changed.wait_until(
        lock, std::chrono::system_clock::now() +
                  std::chrono::duration_cast<std::chrono::system_clock::duration>(slice));
  }

  InProcessState& state_;
  std::uint64_t next_ticket_ = 0;
  std::map<std::pair<int, int>, std::uint64_t> sent_;    ///< By peer and tag.
  std::map<std::pair<int, int>, std::uint64_t> posted_;  ///< By peer and tag.
  std::map<std::uint64_t, PostedReceive> receives_;
};

}  // namespace

InProcessNetwork::InProcessNetwork(int world, MessageDelay delay)
    : state_(std::make_unique<InProcessState>(world, std::move(delay))) {}

InProcessNetwork::~InProcessNetwork() = default;

std::unique_ptr<Channel> InProcessNetwork::channel(int rank) {
  return std::make_unique<InProcessChannel>(*state_, rank);
}

void InProcessNetwork::close(int rank) {
  state_->close(rank);
}

}  // namespace headrace
