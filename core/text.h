// Small text helpers that every message uses: "did you mean", numbers with units.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/units.h"

namespace headrace {

/// The candidate nearest to `word` (Levenshtein, case ignored), when near enough to be a slip:
/// at most a third of the word's length, at least 1 edit. Ties go to the first candidate.
std::optional<std::string> closest_match(std::string_view word,
                                         std::span<const std::string_view> candidates);

/// " (did you mean 'seq'?)" or "", ready to append to a message.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// "3.2ms", "5us", "1.5s", "7ns". `where` is the flag or place named in the error. A bare number
/// is kUsage and the message names the units.
Result<Seconds> seconds_from_text(std::string_view text, std::string_view where);
/// "80GiB", "1.5GB", "4096B", "12MiB".
Result<Bytes> bytes_from_text(std::string_view text, std::string_view where);
/// "25GB/s", "25Gbit/s", "12.5GiB/s".
Result<BytesPerSecond> bandwidth_from_text(std::string_view text, std::string_view where);

/// Three significant digits and the fitting unit: "3.20 ms", "80.0 GiB", "25.0 GB/s", "12.5 %".
std::string to_text(Seconds time);
std::string to_text(Bytes size);
std::string to_text(BytesPerSecond bandwidth);
std::string percent_text(double fraction);         ///< 0.125 -> "12.5 %"; always one decimal.
std::string signed_percent_text(double fraction);  ///< 0.012 -> "+1.2 %".

}  // namespace headrace
