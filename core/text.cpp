#include "core/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace headrace {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kTimeUnits = {Unit{"s", 1},     Unit{"ms", 1e-3}, Unit{"us", 1e-6},
                                   Unit{"ns", 1e-9}, Unit{"min", 60},  Unit{"h", 3600}};
constexpr double kKi = 1024;
constexpr std::array kByteUnits = {Unit{"B", 1},
                                   Unit{"kB", 1e3},
                                   Unit{"KB", 1e3},
                                   Unit{"MB", 1e6},
                                   Unit{"GB", 1e9},
                                   Unit{"TB", 1e12},
                                   Unit{"KiB", kKi},
                                   Unit{"MiB", kKi* kKi},
                                   Unit{"GiB", kKi* kKi* kKi},
                                   Unit{"TiB", kKi* kKi* kKi* kKi}};
constexpr std::array kBandwidthUnits = {Unit{"B/s", 1},          Unit{"kB/s", 1e3},
                                        Unit{"MB/s", 1e6},       Unit{"GB/s", 1e9},
                                        Unit{"TB/s", 1e12},      Unit{"KiB/s", kKi},
                                        Unit{"MiB/s", kKi* kKi}, Unit{"GiB/s", kKi* kKi* kKi},
                                        Unit{"Mbit/s", 1e6 / 8}, Unit{"Gbit/s", 1e9 / 8}};

std::string names_of(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

Failure bad_quantity(std::string_view text, std::string_view where, std::string_view problem,
                     std::span<const Unit> units, std::string_view example) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("'{}' {}", text, problem),
                  .where = std::string(where),
                  .fix = fmt::format("write it like {}; units: {}", example, names_of(units))});
}

Result<double> quantity(std::string_view text, std::string_view where, std::span<const Unit> units,
                        std::string_view example) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) {
    return bad_quantity(text, where, "is no number with a unit", units, example);
  }
  if (number < 0) return bad_quantity(text, where, "is negative", units, example);
  std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  if (name.empty()) return bad_quantity(text, where, "has no unit", units, example);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (std::isfinite(number * unit.factor)) return number * unit.factor;
    return bad_quantity(text, where, "is too large", units, example);
  }
  return bad_quantity(text, where, fmt::format("has the unknown unit '{}'", name), units, example);
}

/// Three significant digits without exponent: 3.20, 80.0, 512.
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

/// The largest unit in which the value is at least 1 after rounding to three digits; else the last.
std::string scaled(double value, std::span<const Unit> largest_first) {
  for (const Unit& unit : largest_first) {
    if (std::abs(value) >= unit.factor * 0.9995) {
      return fmt::format("{} {}", three_digits(value / unit.factor), unit.name);
    }
  }
  const Unit& smallest = largest_first.back();
  return fmt::format("{} {}", three_digits(value / smallest.factor), smallest.name);
}

/// To one decimal; what rounds to nothing has no sign.
double rounded_percent(double fraction) {
  return std::round(fraction * 1000) / 10 + 0.0;
}

}  // namespace

std::optional<std::string> closest_match(std::string_view word,
                                         std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 100;  // Comparing costs the product of the lengths.
  if (word.size() > kLongest) return std::nullopt;
  const std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  std::size_t best = allowed + 1;
  std::optional<std::string> match;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > word.size() + allowed) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      match = std::string(candidate);
    }
  }
  return match;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto match = closest_match(word, candidates);
  return match ? fmt::format(" (did you mean '{}'?)", *match) : std::string();
}

Result<Seconds> seconds_from_text(std::string_view text, std::string_view where) {
  const auto value = quantity(text, where, kTimeUnits, "3.2ms");
  if (!value) return Failure(value.error());
  constexpr double kMost = 1e12;  // As in documents; sums of many stay exact enough.
  if (*value > kMost) return bad_quantity(text, where, "is more than 1e12 s", kTimeUnits, "3.2ms");
  return Seconds(*value);
}

Result<Bytes> bytes_from_text(std::string_view text, std::string_view where) {
  const auto value = quantity(text, where, kByteUnits, "80GiB");
  if (!value) return Failure(value.error());
  constexpr double kMost = 9.2e18;
  if (*value > kMost) {
    return bad_quantity(text, where, "is more than 9.2e18 bytes", kByteUnits, "80GiB");
  }
  return Bytes(static_cast<std::int64_t>(std::llround(*value)));
}

Result<BytesPerSecond> bandwidth_from_text(std::string_view text, std::string_view where) {
  const auto value = quantity(text, where, kBandwidthUnits, "25GB/s");
  if (!value) return Failure(value.error());
  if (*value <= 0) {
    return bad_quantity(text, where, "is not positive", kBandwidthUnits, "25GB/s");
  }
  return BytesPerSecond(*value);
}

std::string to_text(Seconds time) {
  static constexpr std::array kUnits = {Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6},
                                        Unit{"ns", 1e-9}};
  constexpr double kNothing = 5e-13;  // what is left of a difference of equal times
  if (std::abs(time.value()) < kNothing) return "0 s";
  return scaled(time.value(), kUnits);
}

std::string to_text(Bytes size) {
  static constexpr std::array kUnits = {Unit{"TiB", kKi * kKi * kKi * kKi},
                                        Unit{"GiB", kKi * kKi * kKi}, Unit{"MiB", kKi * kKi},
                                        Unit{"KiB", kKi}};
  if (std::abs(size.value()) < 1024) return fmt::format("{} B", size.value());
  return scaled(static_cast<double>(size.value()), kUnits);
}

std::string to_text(BytesPerSecond bandwidth) {
  static constexpr std::array kUnits = {Unit{"TB/s", 1e12}, Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6},
                                        Unit{"kB/s", 1e3}, Unit{"B/s", 1}};
  return scaled(bandwidth.value(), kUnits);
}

std::string percent_text(double fraction) {
  return fmt::format("{:.1f} %", rounded_percent(fraction));
}

std::string signed_percent_text(double fraction) {
  return fmt::format("{:+.1f} %", rounded_percent(fraction));
}

}  // namespace headrace
