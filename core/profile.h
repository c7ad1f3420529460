// What is known of a model's layers on one kind of device, and where each number comes from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/model_graph.h"
#include "core/model_spec.h"
#include "core/units.h"

namespace headrace {

/// The model that was profiled.
struct ModelInfo {
  std::string name;
  std::string source;           ///< File or example it came from, as the user named it.
  std::int64_t parameters = 0;  ///< Unique trainable and frozen parameters; ties counted once.
  std::optional<ModelSpec> spec = {};  ///< Present when our own layers can be built from it.
  friend bool operator==(const ModelInfo&, const ModelInfo&) = default;
};

/// The device the times were measured on.
struct ProfiledDevice {
  std::string kind;  ///< "cpu", "cuda", or what the importer knows ("v100").
  std::string name;  ///< "Intel(R) Xeon(R) …", "NVIDIA H200".
  int count = 1;
  std::string driver = {};
  std::map<std::string, std::string> software = {};  ///< {"libtorch": "2.11.0", "headrace": …}.
  friend bool operator==(const ProfiledDevice&, const ProfiledDevice&) = default;
};

/// A point-to-point link as the profiler saw it: one hop costs latency + bytes / bandwidth.
struct LinkSpeed {
  Seconds latency{0};
  BytesPerSecond bandwidth{0};  ///< 0: infinitely fast.
  friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};

/// Costs of every layer for one micro-batch size, sequence length and dtype.
struct Profile {
  ModelInfo model;
  ProfiledDevice device;
  std::string dtype = "fp32";
  int micro_batch_size = 1;
  int sequence_length = 0;       ///< 0: the model has no sequence.
  std::string fingerprint = {};  ///< SHA-256 over model, shapes, dtype, device, software; hex.
  ModelGraph graph;
  std::optional<LinkSpeed> link = {};  ///< Between two devices of this kind, where measured.
  Duration optimizer_step = {};        ///< Whole model, once per iteration; 0 where unknown.
  std::string optimizer = {};          ///< Of `optimizer_step` and Layer::optimizer: "adam", "sgd".
  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace headrace
