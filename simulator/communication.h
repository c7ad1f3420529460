// How messages between devices behave: named in every result, chosen per run.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace headrace {

/// What a device does at a send or receive.
///                 message starts           the device waits
/// async           when it is sent          for nothing; compute waits for its input
/// blocking-recv   when it is sent          at every receive (head of line)
/// rendezvous      when both sides are there  at every send and receive
/// batched         when both sides are there  for the whole batch of neighbouring sends and
///                                          receives (PyTorch's batch_isend_irecv); a batch of
///                                          sends alone is waited for before the next batch
enum class CommunicationSemantics { kAsync, kBlockingReceive, kRendezvous, kBatched };

/// Which sends and receives of a device run one after another. With one stream (or one for sends
/// and one for receives) an operation starts when the one before it on its stream has finished, and
/// a message moves when both its ends have started (NCCL on one communicator).
enum class CommunicationStreams { kUnlimited, kPerDirection, kShared };

/// "async", "blocking-recv", "rendezvous", "batched".
std::string_view name_of(CommunicationSemantics semantics);
std::optional<CommunicationSemantics> semantics_from_name(std::string_view name);

/// The way of a message: latency, then `size` over every resource at the max-min fair rate.
struct MessagePath {
  Seconds latency{0};
  Bytes size{0};
  std::vector<int> resources = {};  ///< Indices into CommunicationModel::resources.
};

struct CommunicationModel {
  CommunicationSemantics semantics = CommunicationSemantics::kAsync;
  CommunicationStreams streams = CommunicationStreams::kUnlimited;
  /// Compute takes this many times as long while its device sends or receives; at least 1.
  double compute_slowdown = 1;
  /// Links and NICs that messages share. Empty: every message has its hop time for itself.
  std::vector<BytesPerSecond> resources = {};
  std::vector<MessagePath> forward_path = {};   ///< Per stage s, to s + 1; as hop_forward.
  std::vector<MessagePath> backward_path = {};  ///< Per stage s, from s + 1 back to s.
};

}  // namespace headrace
