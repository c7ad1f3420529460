// The two kinds of line in a graph.txt, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace headrace {

/// Where a line stands, for messages.
struct LinePlace {
  std::string_view source;
  int number = 0;
};

/// A node line; times in milliseconds, sizes in bytes.
struct PipedreamNode {
  std::string_view id;
  std::string_view description;
  double forward_ms = 0;
  double backward_ms = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t parameter_bytes = 0;
  std::optional<int> stage = {};
};

struct PipedreamEdge {
  std::string_view from;
  std::string_view to;
};

/// kBadInput at "source:line" with what is wrong there.
Failure bad_line(const LinePlace& place, std::string what, std::string fix);

/// Views into `line`, which must outlive the result. Fail with kBadInput.
Result<PipedreamNode> node_from_line(std::string_view line, const LinePlace& place);
Result<PipedreamEdge> edge_from_line(std::string_view line, const LinePlace& place);

}  // namespace headrace
