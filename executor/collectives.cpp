#include "executor/collectives.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/core.h>

#include "executor/precise_wait.h"

namespace headrace {
namespace {

/// No result of a run is larger; more means that the two ends do not speak the same language.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36;

Result<void> send_now(Channel& channel, Address to, std::span<const std::byte> bytes,
                      std::string_view what, Seconds timeout) {
  const auto ticket = channel.post_send(to, bytes);
  if (!ticket) return lost_peer(channel, to.peer, what, ticket.error());
  return wait_watched(channel, {*ticket, to.peer, what, timeout});
}

Result<void> receive_now(Channel& channel, Address from, std::span<std::byte> bytes,
                         std::string_view what, Seconds timeout) {
  const auto ticket = channel.post_receive(from, bytes);
  if (!ticket) return lost_peer(channel, from.peer, what, ticket.error());
  return wait_watched(channel, {*ticket, from.peer, what, timeout});
}

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

constexpr int kPings = 40;

/// Rank 0's side: tells its time to everyone who asks.
Result<void> answer_pings(Channel& channel, int peer, Seconds timeout) {
  for (int round = 0; round < kPings; ++round) {
    double time = 0;
    auto ok = receive_now(channel, {peer, kClockTag}, bytes_of(time), "a clock", timeout);
    if (!ok) return ok;
    time = seconds_since_epoch(RunClock::now());
    ok = send_now(channel, {peer, kClockTag + 1}, bytes_of(time), "a clock", timeout);
    if (!ok) return ok;
  }
  return {};
}

/// The others' side: rank 0's answer was true half a round trip ago, give or take that half.
Result<Seconds> measured_offset(Channel& channel, Seconds timeout) {
  double shortest = std::numeric_limits<double>::infinity();
  double offset = 0;
  for (int round = 0; round < kPings; ++round) {
    double time = 0;
    const double before = seconds_since_epoch(RunClock::now());
    auto ok = send_now(channel, {0, kClockTag}, bytes_of(time), "a clock", timeout);
    if (!ok) return Failure(ok.error());
    ok = receive_now(channel, {0, kClockTag + 1}, bytes_of(time), "a clock", timeout);
    if (!ok) return Failure(ok.error());
    const double after = seconds_since_epoch(RunClock::now());
    if (after - before >= shortest) continue;
    shortest = after - before;
    offset = time - (before + after) / 2;
  }
  return Seconds{std::abs(offset) <= shortest / 2 ? 0 : offset};
}

}  // namespace

Result<void> wait_watched(Channel& channel, const WatchedWait& wait) {
  const auto through =
      channel.wait(wait.ticket, RunClock::now() + clock_duration(wait.timeout.value()));
  if (through && *through) return {};
  if (!through) return lost_peer(channel, wait.peer, wait.what, through.error());
  return Failure({.code = ErrorCode::kTimeout,
                  .what = fmt::format("rank {} waited {:.1f} s for {} from rank {}", channel.rank(),
                                      wait.timeout.value(), wait.what, wait.peer),
                  .where = fmt::format("rank {}", channel.rank()),
                  .fix = fmt::format("find out what holds up rank {}, or allow more with --timeout",
                                     wait.peer)});
}

Failure lost_peer(const Channel& channel, int peer, std::string_view what, const Error& cause) {
  return Failure({.code = cause.code,
                  .what = fmt::format("rank {} lost rank {} while it waited for {}: {}",
                                      channel.rank(), peer, what, cause.what),
                  .where = fmt::format("rank {}", channel.rank()),
                  .fix = fmt::format("read what rank {} reports", peer)});
}

Result<void> barrier(Channel& channel, Seconds timeout) {
  std::byte token{1};
  const auto token_bytes = bytes_of(token);
  if (channel.rank() != 0) {
    if (auto ok = send_now(channel, {0, kBarrierTag}, token_bytes, "the barrier", timeout); !ok) {
      return ok;
    }
    return receive_now(channel, {0, kBarrierTag + 1}, token_bytes, "the barrier", timeout);
  }
  for (int peer = 1; peer < channel.world(); ++peer) {
    auto ok = receive_now(channel, {peer, kBarrierTag}, token_bytes, "the barrier", timeout);
    if (!ok) return ok;
  }
  std::vector<Ticket> releases;
  for (int peer = 1; peer < channel.world(); ++peer) {
    const auto ticket = channel.post_send({peer, kBarrierTag + 1}, token_bytes);
    if (!ticket) return lost_peer(channel, peer, "the barrier", ticket.error());
    releases.push_back(*ticket);
  }
  for (int peer = 1; peer < channel.world(); ++peer) {
    const Ticket ticket = releases[static_cast<std::size_t>(peer - 1)];
    if (auto ok = wait_watched(channel, {ticket, peer, "the barrier", timeout}); !ok) return ok;
  }
  return {};
}

Result<void> send_bytes(Channel& channel, Address to, std::span<const std::byte> bytes,
                        Seconds timeout) {
  std::uint64_t size = bytes.size();
  if (auto ok = send_now(channel, to, bytes_of(size), "a size", timeout); !ok) return ok;
  if (size == 0) return {};
  return send_now(channel, {to.peer, to.tag + 1}, bytes, "a result", timeout);
}

Result<std::vector<std::byte>> receive_bytes(Channel& channel, Address from, Seconds timeout) {
  std::uint64_t size = 0;
  auto ok = receive_now(channel, from, bytes_of(size), "a size", timeout);
  if (!ok) return Failure(ok.error());
  if (size > kMostBytes) {
    return Failure({.code = ErrorCode::kInternal,
                    .what = fmt::format("rank {} announces {} bytes", from.peer, size),
                    .where = fmt::format("rank {}", channel.rank()),
                    .fix = "use the same headrace-torch on all ranks"});
  }
  std::vector<std::byte> bytes(size);
  if (size == 0) return bytes;
  ok = receive_now(channel, {from.peer, from.tag + 1}, bytes, "a result", timeout);
  if (!ok) return Failure(ok.error());
  return bytes;
}

Result<std::vector<std::vector<std::byte>>> gather_bytes(Channel& channel,
                                                         std::span<const std::byte> bytes,
                                                         Seconds timeout) {
  std::vector<std::vector<std::byte>> all;
  if (channel.rank() != 0) {
    if (auto ok = send_bytes(channel, {0, kGatherTag}, bytes, timeout); !ok) {
      return Failure(ok.error());
    }
    return all;
  }
  all.emplace_back(bytes.begin(), bytes.end());
  for (int peer = 1; peer < channel.world(); ++peer) {
    auto theirs = receive_bytes(channel, {peer, kGatherTag}, timeout);
    if (!theirs) return Failure(theirs.error());
    all.push_back(std::move(*theirs));
  }
  return all;
}

Result<Seconds> clock_offset(Channel& channel, Seconds timeout) {
  if (channel.rank() != 0) return measured_offset(channel, timeout);
  for (int peer = 1; peer < channel.world(); ++peer) {
    if (auto ok = answer_pings(channel, peer, timeout); !ok) return Failure(ok.error());
  }
  return Seconds{0};
}

}  // namespace headrace
