// Measures a model layer by layer on the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/model_spec.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/units.h"

namespace headrace {

struct CpuProfileOptions {
  int micro_batch = 1;
  int sequence_length = 0;  ///< 0: the model's own.
  std::string dtype = "fp32";
  std::string optimizer = "adam";
  /// Cores at work while one is measured, that one included; 0: all usable ones, at most 2, since
  /// stages run side by side and share caches and memory bandwidth.
  int load = 0;
  std::uint64_t seed = 0;
  int max_repetitions = 400;
  Seconds time_limit{60};
  std::function<void(int done, int total, std::string_view doing)> on_progress = {};
};

/// Profile of the model on one core with one thread. Per layer: forward, whole backward, and the
/// two halves I and W separately (the first layer of the chain has no I: its input needs no
/// gradient; its W is the whole backward), saved activations through hooks, and the optimizer's
/// step for the whole model. Layers that are alike are measured together and say so.
///
/// Small models (64 Mi parameters) are measured with every layer built, larger ones with one layer
/// of each kind. Leaves the calling thread pinned to a core and LibTorch with one thread. To be
/// called before LibTorch has started threads, since it forks the load.
///
/// Fails as `layers_of`, with kUsage on options out of range and with kUnavailable where memory or
/// cores don't suffice.
Result<Profile> profile_on_cpu(const ModelSpec& spec, const std::string& source,
                               const CpuProfileOptions& options);

/// "2.11.0", of the LibTorch this was built with.
std::string libtorch_version();

}  // namespace headrace
