#include "executor/link_probe.h"

#include <algorithm>
#include <array>
#include <utility>

#include <Eigen/QR>

#include "core/check.h"
#include "executor/collectives.h"
#include "executor/precise_wait.h"

namespace headrace {
namespace {

constexpr std::array<std::size_t, 7> kSizes{64,        1 << 10, 8 << 10, 64 << 10,
                                            256 << 10, 1 << 20, 4 << 20};
constexpr int kReadyTag = 100;
constexpr int kDataTag = 101;
constexpr int kTimeTag = 102;

/// Keeps the core as busy as a stage does.
void compute_for(RunClock::duration time) {
  const auto end = RunClock::now() + time;
  while (RunClock::now() < end) {
  }
}

Result<void> transfer(Channel& channel, Result<Ticket> ticket, Seconds timeout) {
  if (!ticket) return Failure(ticket.error());
  return wait_watched(channel, {*ticket, 1 - channel.rank(), "a link probe", timeout});
}

/// Rank 0: waits until the other listens, sends while it computes, then tells when it sent.
Result<void> send_once(Channel& channel, std::span<std::byte> data, Seconds timeout) {
  std::byte ready{};
  const auto ready_bytes = std::span(&ready, 1);
  auto ok = transfer(channel, channel.post_receive({1, kReadyTag}, ready_bytes), timeout);
  if (!ok) return ok;
  constexpr auto kBefore = std::chrono::microseconds(300);
  constexpr auto kDuring = std::chrono::milliseconds(3);
  compute_for(kBefore);
  double sent_at = seconds_since_epoch(RunClock::now());
  const auto sent = channel.post_send({1, kDataTag}, data);
  compute_for(kDuring);
  if (ok = transfer(channel, sent, timeout); !ok) return ok;
  const auto time_bytes = std::as_bytes(std::span(&sent_at, 1));
  return transfer(channel, channel.post_send({1, kTimeTag}, time_bytes), timeout);
}

/// Rank 1: the time from the other's post to the arrival here, on the other's clock.
Result<Seconds> receive_once(Channel& channel, std::span<std::byte> data, Seconds offset,
                             Seconds timeout) {
  std::byte ready{1};
  double sent_at = 0;
  const auto coming = channel.post_receive({0, kDataTag}, data);
  auto ok = transfer(channel, channel.post_send({0, kReadyTag}, std::span(&ready, 1)), timeout);
  if (!ok) return Failure(ok.error());
  if (ok = transfer(channel, coming, timeout); !ok) return Failure(ok.error());
  const Seconds arrived = Seconds{seconds_since_epoch(RunClock::now())} + offset;
  const auto time_bytes = std::as_writable_bytes(std::span(&sent_at, 1));
  ok = transfer(channel, channel.post_receive({0, kTimeTag}, time_bytes), timeout);
  if (!ok) return Failure(ok.error());
  return arrived - Seconds{sent_at};
}

}  // namespace

Result<std::vector<LinkSample>> measure_link(Channel& channel, Seconds timeout, int repetitions) {
  HEADRACE_CHECK(channel.world() == 2, "a link has two ends");
  const auto offset = clock_offset(channel, timeout);
  if (!offset) return Failure(offset.error());
  std::vector<LinkSample> samples;
  for (const std::size_t size : kSizes) {
    std::vector<std::byte> data(size);
    std::vector<Seconds> times;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      if (channel.rank() == 0) {
        if (auto ok = send_once(channel, data, timeout); !ok) return Failure(ok.error());
        continue;
      }
      const auto time = receive_once(channel, data, *offset, timeout);
      if (!time) return Failure(time.error());
      times.push_back(*time);
    }
    if (channel.rank() == 0) continue;
    std::ranges::sort(times);
    samples.push_back(
        {.size = Bytes{static_cast<std::int64_t>(size)}, .time = times[times.size() / 2]});
  }
  return samples;
}

// Least squares of time = latency + size / bandwidth, each equation divided by its time so that
// small messages count as much as large ones.
LinkSpeed fit_link(std::span<const LinkSample> samples) {
  Eigen::MatrixX2d equations(static_cast<Eigen::Index>(samples.size()), 2);
  for (Eigen::Index i = 0; i < equations.rows(); ++i) {
    const LinkSample& sample = samples[static_cast<std::size_t>(i)];
    const double time = std::max(sample.time.value(), 1e-9);
    equations.row(i) << 1 / time, static_cast<double>(sample.size.value()) / time;
  }
  const auto solver = equations.colPivHouseholderQr();
  HEADRACE_CHECK(solver.rank() == 2, "samples of two different sizes");
  const Eigen::Vector2d fit = solver.solve(Eigen::VectorXd::Ones(equations.rows()));
  return {.latency = Seconds{std::max(fit[0], 0.0)},
          .bandwidth = BytesPerSecond{fit[1] > 0 ? 1 / fit[1] : 0}};
}

}  // namespace headrace
