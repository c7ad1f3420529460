// The leaves of reading: numbers with their limits, text, and the messages when they are wrong.
#include "core/json/object_reader.h"

#include <algorithm>
#include <cmath>

#include "core/json/strict_parse.h"

namespace headrace {
namespace {

using nlohmann::json;

// Above 2^53 a double no longer holds every whole number, and readers disagree.
constexpr std::int64_t kMostExact = std::int64_t{1} << 53;
// 30 thousand years; far more only makes sums overflow.
constexpr double kMostSeconds = 1e12;

std::string found_text(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string())
    return fmt::format("\"{}\"", printable(value.get_ref<const std::string&>()));
  return value.dump();
}

/// 7, 7.0 and 7e0, as long as the number is exact.
std::optional<std::int64_t> whole_number(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (number != std::trunc(number) || std::abs(number) >= static_cast<double>(kMostExact)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

}  // namespace

void Place::fail(std::string what, std::string fix) const {
  if (context_.error) return;
  context_.error = Error{.code = ErrorCode::kBadInput,
                         .what = std::move(what),
                         .where = place_text(context_.source, pointer()),
                         .fix = std::move(fix)};
}

void Place::adopt(const Error& error) const {
  if (context_.error) return;
  constexpr std::size_t kLongest = 1000;
  context_.error = error;
  context_.error->what = printable(error.what, kLongest);  // It quotes names from the document.
  context_.error->where = place_text(context_.source, pointer() + error.where);
}

std::string Place::pointer() const {
  if (parent_ == nullptr) return {};
  return parent_->pointer() + pointer_step(key_ ? std::string(*key_) : std::to_string(index_));
}

void fail_type(const Place& place, const json& found, std::string_view expected,
               std::string_view example) {
  place.fail(fmt::format("expected {}, found {}", expected, found_text(found)),
             fmt::format("write it like {}", example));
}

void read(const json& value, const Place& place, std::string& out) {
  if (!value.is_string()) return fail_type(place, value, "text", "\"text\"");
  out = value.get<std::string>();
}

void read(const json& value, const Place& place, bool& out) {
  if (!value.is_boolean()) return fail_type(place, value, "true or false", "true");
  out = value.get<bool>();
}

void read(const json& value, const Place& place, int& out, Limits limits) {
  const auto number = whole_number(value);
  if (!number || *number < limits.low || *number > limits.high) {
    return fail_type(place, value,
                     fmt::format("a whole number from {} to {}", limits.low, limits.high),
                     std::to_string(std::max(limits.low, 1)));
  }
  out = static_cast<int>(*number);
}

void read(const json& value, const Place& place, std::int64_t& out) {
  const auto number = whole_number(value);
  if (!number || *number < 0 || *number > kMostExact) {
    return fail_type(place, value, "a whole number from 0 to 2^53", "124000000");
  }
  out = *number;
}

void read(const json& value, const Place& place, double& out, Range range) {
  if (!value.is_number()) return fail_type(place, value, "a number", "0.5");
  const auto number = value.get<double>();
  if (number < range.low || number > range.high) {
    return fail_type(place, value, fmt::format("a number from {} to {}", range.low, range.high),
                     fmt::format("{}", std::clamp(1.0, range.low, range.high)));
  }
  out = number;
}

void read(const json& value, const Place& place, Seconds& out, Sign sign) {
  const double number = value.is_number() ? value.get<double>() : 2 * kMostSeconds;
  if (std::abs(number) > kMostSeconds || (sign == Sign::kNotNegative && number < 0)) {
    return fail_type(place, value,
                     sign == Sign::kAny ? "a number of seconds from -1e12 to 1e12"
                                        : "a number of seconds from 0 to 1e12",
                     "0.0032");
  }
  out = Seconds(number);
}

void read(const json& value, const Place& place, Bytes& out) {
  const auto number = whole_number(value);
  if (!number || *number < 0 || *number > kMostExact) {
    return fail_type(place, value, "a whole number of bytes from 0 to 2^53", "1048576");
  }
  out = Bytes(*number);
}

void read(const json& value, const Place& place, BytesPerSecond& out) {
  const double number = value.is_number() ? value.get<double>() : -1;
  // Below one byte a second, times of messages overflow.
  if (number < 0 || (number > 0 && number < 1)) {
    return fail_type(place, value,
                     "bytes per second: at least 1, or 0 for a link that costs only latency",
                     "25e9");
  }
  out = BytesPerSecond(number);
}

void read(const json& value, const Place& place, SpecValue& out) {
  if (value.is_boolean()) {
    out = value.get<bool>();
  } else if (value.is_number_integer()) {
    out = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    out = value.get<double>();
  } else if (value.is_string()) {
    out = value.get<std::string>();
  } else {
    fail_type(place, value, "a setting: number, text, true or false", "512");
  }
}

ObjectReader::ObjectReader(const json& object, const Place& place)
    : object_(&object), place_(place) {
  static const json kNothing = json::object();
  known_.reserve(16);
  if (object.is_object()) return;
  fail_type(place, object, "an object", "{}");
  object_ = &kNothing;
}

void ObjectReader::finish() const {
  if (place_.failed()) return;
  report_unknown();
  if (missing_.empty()) return;
  place_.fail(fmt::format("key '{}' is missing", missing_.front()),
              fmt::format("add \"{}\" here", missing_.front()));
}

void ObjectReader::report_unknown() const {
  std::vector<std::string_view> absent;
  for (const std::string_view key : known_) {
    if (!has(key)) absent.push_back(key);
  }
  for (const auto& member : object_->items()) {
    const std::string& key = member.key();
    if (std::ranges::find(known_, std::string_view(key)) != known_.end()) continue;
    std::string all;
    for (const std::string_view name : known_) all += (all.empty() ? "" : ", ") + std::string(name);
    const Place at(place_, key);
    at.fail(fmt::format("unknown key '{}'{}", printable(key), did_you_mean(key, absent)),
            fmt::format("remove it; keys of this object: {}", all));
    return;
  }
}

void ObjectReader::derived(std::string_view key, std::int64_t expected) {
  const json* value = find_required(key);
  if (value == nullptr || place_.failed()) return;
  if (whole_number(*value) == expected) return;
  const Place at(place_, key);
  fail_type(at, *value, fmt::format("{}, which follows from the rest", expected),
            std::to_string(expected));
}

bool ObjectReader::has(std::string_view key) const {
  return object_->find(std::string(key)) != object_->end();
}

const json* ObjectReader::find(std::string_view key) {
  known_.push_back(key);
  const auto member = object_->find(std::string(key));
  return member == object_->end() ? nullptr : &*member;
}

const json* ObjectReader::find_required(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) missing_.push_back(key);
  return value;
}

}  // namespace headrace
