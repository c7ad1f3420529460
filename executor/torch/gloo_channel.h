// A channel between processes: LibTorch's Gloo process group over TCP.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "core/units.h"
#include "executor/channel.h"

namespace headrace {

struct GlooOptions {
  std::string store_host = "127.0.0.1";
  int store_port = 0;
  int rank = 0;
  int world = 1;
  bool serve_store = false;  ///< One rank of a run does, unless its launcher serves the store.
  int restart = 0;           ///< Keeps a restarted group apart from the one before.
  Seconds timeout{60};       ///< To join.
};

/// Joins the group; returns when all ranks have. Gloo works on threads of its own, which inherit
/// the cores of the caller: pin yourself afterwards.
///
/// A send completes only when the peer has posted the receive. After a timeout or a peer's death
/// the group is unusable. Messages whose two ends disagree on the size end the process: agree
/// beforehand.
/// Fails with kTimeout when ranks are missing, with kUnavailable when there is no network.
Result<std::unique_ptr<Channel>> make_gloo_channel(const GlooOptions& options);

}  // namespace headrace
