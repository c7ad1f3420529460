#include "executor/torch/gloo_channel.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <fmt/core.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "executor/precise_wait.h"
#include "executor/torch/torch_errors.h"

namespace headrace {
namespace {

std::chrono::milliseconds milliseconds_of(Seconds time) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(time.value() * 1e3));
}

at::Tensor tensor_over(std::byte* bytes, std::size_t size) {
  return at::from_blob(bytes, {static_cast<std::int64_t>(size)}, at::kByte);
}

bool is_timeout(std::string_view message) {
  return message.find("Timed out") != std::string_view::npos;
}

class GlooChannel final : public Channel {
 public:
  GlooChannel(c10::intrusive_ptr<c10d::ProcessGroupGloo> group, int rank, int world)
      : Channel(rank, world), group_(std::move(group)) {}

  Result<Ticket> post_send(Address to, std::span<const std::byte> bytes) override {
    // Gloo only reads what it sends; its interface cannot say so.
    std::vector<at::Tensor> message{
        tensor_over(const_cast<std::byte*>(bytes.data()), bytes.size())};
    return posted(to, [&] { return group_->send(message, to.peer, to.tag); });
  }

  Result<Ticket> post_receive(Address from, std::span<std::byte> bytes) override {
    std::vector<at::Tensor> message{tensor_over(bytes.data(), bytes.size())};
    return posted(from, [&] { return group_->recv(message, from.peer, from.tag); });
  }

  Result<bool> wait(Ticket ticket, RunClock::time_point deadline) override {
    const auto found = works_.find(static_cast<std::uint64_t>(ticket));
    const auto [work, peer] = found->second;
    works_.erase(found);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - RunClock::now());
    try {
      // 0 would mean "no timeout".
      return work->wait(std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception& thrown) {
      if (is_timeout(thrown.what())) return false;
      return peer_gone(peer, thrown.what());
    }
  }

  void close() override {
    works_.clear();
    group_.reset();  // Closes all connections and ends Gloo's threads.
  }

 private:
  using Work = c10::intrusive_ptr<c10d::Work>;

  template <typename Post>
  Result<Ticket> posted(Address address, const Post& post) {
    try {
      works_.emplace(next_ticket_, std::pair(post(), address.peer));
    } catch (const std::exception& thrown) {
      return peer_gone(address.peer, thrown.what());
    }
    return Ticket{next_ticket_++};
  }

  /// Gloo: "[…/pair.cc:547] Connection closed by peer [127.0.0.1]:4711".
  static Failure peer_gone(int peer, std::string_view message) {
    Error error = torch_error(fmt::format("rank {}", peer), message);
    std::string_view reason = message.substr(0, message.find('\n'));
    if (const std::size_t end = reason.find("] "); reason.starts_with('[') && end != reason.npos) {
      reason.remove_prefix(end + 2);
    }
    error.code = ErrorCode::kTimeout;
    error.what = std::string(reason);
    error.fix = "read what that rank reports";
    return Failure(std::move(error));
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::uint64_t next_ticket_ = 0;
  std::map<std::uint64_t, std::pair<Work, int>> works_;
};

Failure cannot_join(const GlooOptions& options, std::string_view message) {
  const bool missing = message.find("imeout") != std::string_view::npos ||
                       message.find("imed out") != std::string_view::npos;
  return Failure({.code = missing ? ErrorCode::kTimeout : ErrorCode::kUnavailable,
                  .what = fmt::format("rank {} of {} could not join at {}:{}: {}", options.rank,
                                      options.world, options.store_host, options.store_port,
                                      message.substr(0, message.find('\n'))),
                  .where = fmt::format("rank {}", options.rank),
                  .fix = "check that all ranks were started and can reach that address"});
}

std::shared_ptr<gloo::transport::Device> device_for(const std::string& store_host) {
  const bool one_host = store_host == "localhost" || store_host.starts_with("127.");
  return one_host ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                  : c10d::ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

Result<std::unique_ptr<Channel>> make_gloo_channel(const GlooOptions& options) {
  try {
    c10d::TCPStoreOptions store_options;
    store_options.port = static_cast<std::uint16_t>(options.store_port);
    store_options.isServer = options.serve_store;
    store_options.numWorkers = options.world;
    store_options.waitWorkers = false;
    store_options.timeout = milliseconds_of(options.timeout);
    const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::PrefixStore>(
        fmt::format("headrace/{}", options.restart),
        c10::make_intrusive<c10d::TCPStore>(options.store_host, store_options));

    auto group_options = c10d::ProcessGroupGloo::Options::create(milliseconds_of(options.timeout));
    group_options->devices.push_back(device_for(options.store_host));
    group_options->threads = 1;  // Of collectives, which are not used.
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, options.rank, options.world,
                                                             group_options);
    return std::make_unique<GlooChannel>(std::move(group), options.rank, options.world);
  } catch (const std::exception& thrown) {
    return cannot_join(options, thrown.what());
  }
}

}  // namespace headrace
