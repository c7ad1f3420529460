// Small valid documents that tests change in one place.
#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "core/json/documents.h"

namespace headrace::testing {

inline constexpr std::string_view kProfileText = R"({
  "schema": "headrace/profile/1",
  "model": {"name": "tiny"},
  "device": {"kind": "cpu"},
  "dtype": "fp32",
  "micro_batch_size": 4,
  "layers": [
    {"id": "first", "forward": {"mean_s": 1}, "backward": {"mean_s": 2}, "parameter_bytes": 8,
     "gradient_bytes": 8, "optimizer_bytes": 16, "saved_activation_bytes": 32, "output_bytes": 4},
    {"id": "second", "forward": {"mean_s": 3}, "backward": {"mean_s": 6}, "parameter_bytes": 8,
     "gradient_bytes": 8, "optimizer_bytes": 16, "saved_activation_bytes": 32, "output_bytes": 4}
  ],
  "edges": [{"from": "first", "to": "second", "bytes": 4}]
})";

inline constexpr std::string_view kClusterText = R"({
  "schema": "headrace/cluster/1",
  "devices": [{"id": "gpu0", "memory_bytes": 80000000000}, {"id": "gpu1"}],
  "links": [],
  "default_links": {"intra_node": {"latency_s": 1e-6, "bandwidth_bytes_per_s": 25e9}}
})";

inline constexpr std::string_view kTimelineText = R"({
  "schema": "headrace/timeline/1", "source": "measured", "devices": 2,
  "events": [
    {"device": 0, "action": "0F0", "start_s": 0, "end_s": 1},
    {"device": 1, "action": "1F3", "start_s": 1, "end_s": 2}
  ]
})";

/// `text` with the first `from`, which must be there, replaced by `to`.
inline std::string changed(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return result.replace(at, from.size(), to);
}

/// What a reader says; "accepted" where it takes the text.
template <typename Noun>
std::string complaint(const Result<Noun>& result) {
  if (result.has_value()) return "accepted";
  CHECK(result.error().code == ErrorCode::kBadInput);
  return to_string(result.error());
}

}  // namespace headrace::testing
