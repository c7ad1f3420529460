#include "interop/pipedream_lines.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"

namespace headrace {
namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr std::string_view kNodeForm =
    "write ID -- DESCRIPTION -- forward_compute_time=MS, backward_compute_time=MS, "
    "activation_size=BYTES, parameter_size=BYTES";
constexpr std::string_view kNumberForm = "write a number that is at least 0, without a unit";
constexpr std::array<std::string_view, 4> kKeys = {"forward_compute_time", "backward_compute_time",
                                                   "activation_size", "parameter_size"};
constexpr double kMostMilliseconds = 1e12;  // Thirty years.
constexpr double kMostBytes = 1e18;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMostShown = 60;
  if (text.size() <= kMostShown) return fmt::format("'{}'", text);
  return fmt::format("'{}…'", text.substr(0, kMostShown));
}

Result<double> number(std::string_view text, double most, const LinePlace& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range || (error == std::errc{} && value > most)) {
    return bad_line(place, fmt::format("{} is too large", quoted(text)),
                    fmt::format("use at most {:g}", most));
  }
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return bad_line(place, fmt::format("{} is no number", quoted(text)), std::string(kNumberForm));
  }
  if (value < 0) {
    return bad_line(place, fmt::format("{} is negative", quoted(text)), std::string(kNumberForm));
  }
  return value;
}

/// "123.0" or "[1.0; 2; 3.5]": the sum, each entry rounded to whole bytes.
Result<std::int64_t> size(std::string_view text, const LinePlace& place) {
  const bool is_list = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  const auto entries =
      is_list ? split(text.substr(1, text.size() - 2), ";") : std::vector<std::string_view>{text};
  double sum = 0;
  for (const std::string_view entry : entries) {
    const auto value = number(entry, kMostBytes, place);
    if (!value) return Failure(value.error());
    sum += std::round(*value);
  }
  if (sum > kMostBytes) {
    return bad_line(place, fmt::format("the sizes {} add up to more than 1e18", quoted(text)),
                    "check the unit: sizes are bytes");
  }
  return std::llround(sum);
}

Result<void> read_time(double& time, std::string_view text, const LinePlace& place) {
  return number(text, kMostMilliseconds, place).map([&time](double value) { time = value; });
}

Result<void> read_size(std::int64_t& bytes, std::string_view text, const LinePlace& place) {
  return size(text, place).map([&bytes](std::int64_t value) { bytes = value; });
}

/// The four "key=value" of a node, each exactly once, in any order.
Result<void> read_costs(PipedreamNode& node, std::string_view costs, const LinePlace& place) {
  std::array<bool, kKeys.size()> seen{};
  for (const std::string_view cost : split(costs, ",")) {
    const auto equals = cost.find('=');
    const std::string_view key = trimmed(cost.substr(0, equals));
    std::size_t index = 0;
    while (index < kKeys.size() && kKeys[index] != key) ++index;
    if (index == kKeys.size() || equals == std::string_view::npos) {
      return bad_line(
          place, fmt::format("{} is no cost of a node{}", quoted(cost), did_you_mean(key, kKeys)),
          std::string(kNodeForm));
    }
    if (std::exchange(seen[index], true)) {
      return bad_line(place, fmt::format("'{}' is given twice", key), "keep one of the two");
    }
    const std::string_view value = trimmed(cost.substr(equals + 1));
    const auto read = index == 0   ? read_time(node.forward_ms, value, place)
                      : index == 1 ? read_time(node.backward_ms, value, place)
                      : index == 2 ? read_size(node.activation_bytes, value, place)
                                   : read_size(node.parameter_bytes, value, place);
    if (!read) return read;
  }
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (!seen[i]) {
      return bad_line(place, fmt::format("node '{}' has no {}", node.id, kKeys[i]),
                      std::string(kNodeForm));
    }
  }
  return {};
}

Result<int> stage_from(std::string_view text, const LinePlace& place) {
  constexpr std::string_view kKey = "stage_id=";
  int stage = -1;
  if (text.substr(0, kKey.size()) == kKey) {
    const std::string_view digits = text.substr(kKey.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), stage);
    if (error != std::errc{} || end != digits.data() + digits.size()) stage = -1;
  }
  if (stage >= 0) return stage;
  return bad_line(place, fmt::format("{} is no stage", quoted(text)),
                  "write stage_id=K with K at least 0, or leave it out");
}

}  // namespace

Failure bad_line(const LinePlace& place, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = fmt::format("{}:{}", place.source, place.number),
                  .fix = std::move(fix)});
}

Result<PipedreamNode> node_from_line(std::string_view line, const LinePlace& place) {
  const auto parts = split(line, kSeparator);
  if (parts.size() < 3 || parts.size() > 4 || parts[0].empty()) {
    return bad_line(
        place,
        fmt::format("{} has {} parts between ' -- ' instead of 3 or 4", quoted(line), parts.size()),
        std::string(kNodeForm));
  }
  PipedreamNode node{.id = parts[0], .description = parts[1]};
  if (auto read = read_costs(node, parts[2], place); !read) return Failure(read.error());
  if (parts.size() == 3) return node;
  const auto stage = stage_from(parts[3], place);
  if (!stage) return Failure(stage.error());
  node.stage = *stage;
  return node;
}

Result<PipedreamEdge> edge_from_line(std::string_view line, const LinePlace& place) {
  const auto parts = split(trimmed(line), kSeparator);
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return bad_line(place, fmt::format("{} is no edge", quoted(trimmed(line))),
                    "write SRC -- DST after a TAB");
  }
  return PipedreamEdge{.from = parts[0], .to = parts[1]};
}

}  // namespace headrace
