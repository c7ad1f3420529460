// What carries raw bytes between the ranks of a run: sockets, or memory when ranks are threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.h"

namespace headrace {

/// The clock of every run: monotonic, the same for all processes of one host.
using RunClock = std::chrono::steady_clock;

/// The other end of a message. Messages of one tag between two ranks arrive in the order sent.
struct Address {
  int peer = 0;
  int tag = 0;
};

/// A posted send or receive.
enum class Ticket : std::uint64_t {};

/// Messages between the ranks 0 .. world() - 1. Posting never blocks; the bytes must stay where
/// they are until `wait` said that the message is through. Sender and receiver must agree on the
/// size. A rank cannot write to itself. Used by one thread.
class Channel {
 public:
  Channel(int rank, int world) : rank_(rank), world_(world) {}
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int world() const { return world_; }

  virtual Result<Ticket> post_send(Address to, std::span<const std::byte> bytes) = 0;
  virtual Result<Ticket> post_receive(Address from, std::span<std::byte> bytes) = 0;

  /// Blocks until the message is through (true) or the deadline has passed (false; the channel
  /// may be unusable from then on). A ticket is waited for once. Fails with kTimeout when the
  /// peer has gone.
  virtual Result<bool> wait(Ticket ticket, RunClock::time_point deadline) = 0;

  /// Gives up whatever is posted: no bytes are touched afterwards, and the peers see this rank
  /// leave. The only call that may follow is another `close`.
  virtual void close() = 0;

 private:
  int rank_;
  int world_;
};

}  // namespace headrace
