// What all ranks do together, built from the channel's sends and receives.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "executor/channel.h"

namespace headrace {

/// Waits for a ticket. Both ways to fail name this rank, what it waited for and the peer:
/// kTimeout "rank 1 waited 5.0 s for 1RECV_F3 from rank 0", or "rank 1 lost rank 0 while it waited
/// for 1RECV_F3: …".
struct WatchedWait {
  Ticket ticket{};
  int peer = 0;
  std::string_view what;  ///< "1RECV_F3", "the barrier".
  Seconds timeout{60};
};
Result<void> wait_watched(Channel& channel, const WatchedWait& wait);

/// The second of these errors, for a post or wait of the channel that failed with `cause`.
Failure lost_peer(const Channel& channel, int peer, std::string_view what, const Error& cause);

/// Returns on no rank before all ranks have called it. 2 (world - 1) messages.
Result<void> barrier(Channel& channel, Seconds timeout);

/// Rank 0 gets every rank's bytes, in rank order, its own included; the others get nothing. Sizes
/// may differ.
Result<std::vector<std::vector<std::byte>>> gather_bytes(Channel& channel,
                                                         std::span<const std::byte> bytes,
                                                         Seconds timeout);

/// Sends bytes of any number to one rank that calls `receive_bytes`. `tag` is below
/// kFirstMessageTag - 1 and even: the size travels on `tag`, the bytes on `tag + 1`.
Result<void> send_bytes(Channel& channel, Address to, std::span<const std::byte> bytes,
                        Seconds timeout);
Result<std::vector<std::byte>> receive_bytes(Channel& channel, Address from, Seconds timeout);

/// What to add to this rank's clock to get rank 0's. Found by ping-pong (the fastest of some tens);
/// a difference that the round trip alone can explain is taken as 0, so it is on one host.
Result<Seconds> clock_offset(Channel& channel, Seconds timeout);

/// Tags of the purposes above and of others outside the schedule; even, below kFirstMessageTag.
inline constexpr int kBarrierTag = 0;
inline constexpr int kGatherTag = 2;
inline constexpr int kClockTag = 4;
inline constexpr int kShapeTag = 6;
inline constexpr int kTiedTag = 8;
inline constexpr int kNumericsTag = 10;

}  // namespace headrace
