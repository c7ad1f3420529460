#include "executor/collectives.h"

#include <atomic>
#include <cmath>

#include <doctest/doctest.h>

#include "executor/rank_threads.h"

TEST_SUITE_BEGIN("executor/collectives");

namespace headrace::testing {
namespace {

constexpr Seconds kPatience{30};

/// Runs `body` on threads; every rank must succeed.
template <typename Body>
void on_ranks(int ranks, const Body& body) {
  InProcessNetwork network(ranks);
  const auto ran = run_rank_threads(network, ranks, [&](Channel& channel) -> Result<DeviceRecord> {
    if (Result<void> ok = body(channel); !ok) return Failure(ok.error());
    return DeviceRecord{};
  });
  REQUIRE_MESSAGE(ran.has_value(), (ran ? "" : to_string(ran.error())));
}

/// A channel whose peer's clock is ahead: rank 0's answers arrive shifted.
class ShiftedClock final : public Channel {
 public:
  ShiftedClock(Channel& inner, double shift)
      : Channel(inner.rank(), inner.world()), inner_(inner), shift_(shift) {}
  void close() override { inner_.close(); }
  Result<Ticket> post_send(Address to, std::span<const std::byte> bytes) override {
    return inner_.post_send(to, bytes);
  }
  Result<Ticket> post_receive(Address from, std::span<std::byte> bytes) override {
    target_ = bytes;
    return inner_.post_receive(from, bytes);
  }
  Result<bool> wait(Ticket ticket, RunClock::time_point deadline) override {
    auto through = inner_.wait(ticket, deadline);
    if (target_.size() == sizeof(double)) {
      auto& time = *reinterpret_cast<double*>(target_.data());
      time += shift_;
      target_ = {};
    }
    return through;
  }

 private:
  Channel& inner_;
  double shift_;
  std::span<std::byte> target_;
};

}  // namespace

TEST_CASE("nobody leaves a barrier before all have come") {
  std::atomic<int> arrived{0};
  on_ranks(5, [&](Channel& channel) -> Result<void> {
    for (int round = 1; round <= 20; ++round) {
      ++arrived;
      if (auto ok = barrier(channel, kPatience); !ok) return ok;
      CHECK(arrived.load() >= 5 * round);
    }
    return {};
  });
}

TEST_CASE("rank 0 gathers bytes of different lengths in rank order") {
  on_ranks(4, [&](Channel& channel) -> Result<void> {
    const std::vector<std::byte> mine(static_cast<std::size_t>(channel.rank()) * 3,
                                      std::byte(channel.rank()));
    const auto all = gather_bytes(channel, mine, kPatience);
    if (!all) return Failure(all.error());
    CHECK(all->size() == (channel.rank() == 0 ? 4U : 0U));
    for (std::size_t rank = 0; rank < all->size(); ++rank) {
      CHECK((*all)[rank] == std::vector<std::byte>(rank * 3, std::byte(rank)));
    }
    return {};
  });
}

TEST_CASE("threads of one process share a clock and no correction is made") {
  on_ranks(3, [](Channel& channel) -> Result<void> {
    const auto offset = clock_offset(channel, kPatience);
    if (!offset) return Failure(offset.error());
    CHECK(*offset == Seconds{0});
    return {};
  });
}

TEST_CASE("a clock that is ahead is found to within a round trip") {
  on_ranks(2, [](Channel& channel) -> Result<void> {
    constexpr double kAhead = 100;
    ShiftedClock shifted(channel, kAhead);
    Channel& used = channel.rank() == 0 ? channel : static_cast<Channel&>(shifted);
    const auto offset = clock_offset(used, kPatience);
    if (!offset) return Failure(offset.error());
    if (channel.rank() == 1) CHECK(std::abs(offset->value() - kAhead) < 1.0);
    return {};
  });
}

}  // namespace headrace::testing
