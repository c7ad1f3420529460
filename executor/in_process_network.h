// Channels between threads of one process, with an optional delay per message.
#pragma once

#include <functional>
#include <memory>

#include "core/units.h"
#include "executor/channel.h"

namespace headrace {

/// Time that a message is on its way. Must be safe to call from several threads.
using MessageDelay = std::function<Seconds(int from, int to, int tag)>;

struct InProcessState;

/// Connects `world` ranks that are threads. Sends are copied and complete at once.
class InProcessNetwork {
 public:
  explicit InProcessNetwork(int world, MessageDelay delay = {});
  ~InProcessNetwork();
  InProcessNetwork(const InProcessNetwork&) = delete;
  InProcessNetwork& operator=(const InProcessNetwork&) = delete;

  /// The channel of one rank, to be used by one thread; must not outlive the network.
  std::unique_ptr<Channel> channel(int rank);

  /// Makes the rank look dead: whoever waits for a message that it has not sent fails.
  void close(int rank);

 private:
  std::unique_ptr<InProcessState> state_;
};

}  // namespace headrace
