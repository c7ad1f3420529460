#include "tools/headrace/flag_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/text.h"

namespace headrace::cli {
namespace {

Failure usage(std::string what, const std::string& where, std::string fix) {
  return Failure(
      {.code = ErrorCode::kUsage, .what = std::move(what), .where = where, .fix = std::move(fix)});
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// What follows the number at the start of `text`: its unit, or nothing.
std::string_view unit_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  return trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
}

std::optional<double> plain_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

/// Reads "1,2,3ms" part by part; a part without a unit takes that of the last.
template <typename T>
Result<std::vector<T>> quantities(const std::string& text, const std::string& where,
                                  Result<T> (*read)(std::string_view, std::string_view)) {
  const std::vector<std::string_view> parts = split_at_commas(text);
  const std::string_view unit = unit_of(parts.back());
  std::vector<T> values;
  for (const std::string_view part : parts) {
    const bool bare = plain_number(part).has_value();
    const auto value = read(bare ? std::string(part).append(unit) : part, where);
    if (!value) return Failure(value.error());
    values.push_back(*value);
  }
  return values;
}

Result<int> whole_number(std::string_view text, const std::string& where, int least) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return usage(fmt::format("'{}' is no whole number", text), where,
                 fmt::format("give a whole number, at least {}", least));
  }
  if (number >= least) return number;
  return usage(fmt::format("{} is too small", number), where,
               fmt::format("give at least {}", least));
}

template <typename Target, typename T>
Result<void> store(Target& target, Result<T> value) {
  if (!value) return Failure(value.error());
  target = *std::move(value);
  return {};
}

}  // namespace

ValueReader text_into(std::string& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    if (text.empty()) return usage("the value is empty", where, "give a value");
    target = text;
    return {};
  };
}

ValueReader texts_into(std::vector<std::string>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    if (text.empty()) return usage("the value is empty", where, "give a value");
    target.push_back(text);
    return {};
  };
}

ValueReader words_into(std::vector<std::string>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = end + 1;
      const bool again = std::ranges::count(words, words.back()) > 1;
      if (!words.back().empty() && !again) continue;
      return Failure({.code = ErrorCode::kUsage,
                      .what = again ? fmt::format("'{}' is given twice", words.back())
                                    : fmt::format("'{}' has an empty name", text),
                      .where = where,
                      .fix = "write names with commas between: 1f1b,zb-h1"});
    }
    target = std::move(words);
    return {};
  };
}

ValueReader count_into(std::optional<int>& target, int least) {
  return [&target, least](const std::string& text, const std::string& where) {
    return store(target, whole_number(text, where, least));
  };
}

ValueReader counts_into(std::vector<int>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    std::vector<int> counts;
    for (const std::string_view part : split_at_commas(text)) {
      const auto count = whole_number(part, where, 1);
      if (!count) return Failure(count.error());
      counts.push_back(*count);
    }
    target = std::move(counts);
    return {};
  };
}

ValueReader time_into(std::optional<Seconds>& target) {
  return [&target](const std::string& text, const std::string& where) {
    return store(target, seconds_from_text(text, where));
  };
}

ValueReader bytes_into(std::optional<Bytes>& target) {
  return [&target](const std::string& text, const std::string& where) {
    return store(target, bytes_from_text(text, where));
  };
}

ValueReader sizes_into(std::vector<Bytes>& target) {
  return [&target](const std::string& text, const std::string& where) {
    return store(target, quantities<Bytes>(text, where, bytes_from_text));
  };
}

ValueReader bandwidth_into(std::optional<BytesPerSecond>& target) {
  return [&target](const std::string& text, const std::string& where) {
    return store(target, bandwidth_from_text(text, where));
  };
}

ValueReader fraction_into(std::optional<double>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    const bool percent = !text.empty() && text.back() == '%';
    const auto number =
        plain_number(trimmed(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0))));
    const double fraction = number.value_or(-1) / (percent ? 100 : 1);
    if (!number || fraction < 0 || fraction > 1) {
      return usage(fmt::format("'{}' is no share from 0 % to 100 %", text), where,
                   "write it like 8% or 0.08");
    }
    target = fraction;
    return {};
  };
}

ValueReader choice_into(std::string& target, std::vector<std::string_view> choices) {
  return [&target, choices = std::move(choices)](const std::string& text,
                                                 const std::string& where) -> Result<void> {
    std::string names;
    for (const std::string_view choice : choices) {
      if (choice == text) {
        target = text;
        return {};
      }
      names += (names.empty() ? "" : ", ") + std::string(choice);
    }
    return usage(fmt::format("unknown value '{}'{}", text, did_you_mean(text, choices)), where,
                 fmt::format("use {}{}", choices.size() > 1 ? "one of " : "", names));
  };
}

ValueReader times_into(std::vector<Seconds>& target) {
  return [&target](const std::string& text, const std::string& where) {
    return store(target, quantities<Seconds>(text, where, seconds_from_text));
  };
}

ValueReader activations_into(std::optional<ActivationList>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    const std::vector<std::string_view> parts = split_at_commas(text);
    if (!unit_of(parts.back()).empty()) {
      return store(target, quantities<Bytes>(text, where, bytes_from_text));
    }
    std::vector<double> units;
    for (const std::string_view part : parts) {
      const auto number = plain_number(part);
      if (!number || *number < 0) {
        return usage(fmt::format("'{}' is no amount of activation", part), where,
                     "write units like 4, or bytes like 4GB");
      }
      units.push_back(*number);
    }
    target = std::move(units);
    return {};
  };
}

}  // namespace headrace::cli
