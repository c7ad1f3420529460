// Builds JSON values from parser events, so that duplicates and depth are seen while they happen.
#include "core/json/strict_parse.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace headrace {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kContext = 24;  // Characters shown before a syntax error.

/// "12:5" for the byte at `offset`; both count from 1.
std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return fmt::format("{}:{}", line, column);
}

/// What stands on the same line directly before `offset`.
std::string_view context_before(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::string_view line =
      newline == std::string_view::npos ? before : before.substr(newline + 1);
  return line.substr(line.size() > kContext ? line.size() - kContext : 0);
}

class StrictBuilder final : public nlohmann::json_sax<json> {
 public:
  StrictBuilder(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  Result<json> run() {
    json::sax_parse(text_.begin(), text_.end(), this);
    if (error_) return Failure(std::move(*error_));
    return std::move(root_);
  }

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(number_integer_t value) override { return place(value); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    if (value > kMost) return too_large(std::to_string(value));
    return place(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& digits) override {
    if (digits.find_first_of(".eE") == string_t::npos) return too_large(digits);
    return place(value);
  }
  bool string(string_t& value) override { return place(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary data", "write text"); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    keys_.back() = name;
    if (open_.back()->contains(name)) {
      return fail(fmt::format("key '{}' is given twice in one object", printable(name)),
                  "keep one of the two");
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const json::exception& exception) override {
    // `position` counts the bytes read so far, the offending one included.
    const std::size_t offset = std::min(position == 0 ? 0 : position - 1, text_.size());
    constexpr int kNumberOverflow = 406;
    std::string what = "no JSON: the text ends too early";
    if (exception.id == kNumberOverflow) {
      what = fmt::format("number {} is too large", printable(token));
    } else if (offset < text_.size()) {
      what = fmt::format("no JSON: unexpected '{}' after '{}'", printable(text_.substr(offset, 1)),
                         printable(context_before(text_, offset)));
    }
    error_ = Error{.code = ErrorCode::kBadInput,
                   .what = std::move(what),
                   .where = fmt::format("{}:{}", source_, line_and_column(text_, offset)),
                   .fix = exception.id == kNumberOverflow ? "write a number below 1.8e308"
                                                          : "repair the JSON syntax there"};
    return false;
  }

 private:
  bool open(json container) {
    if (open_.size() == kDeepest) {
      return fail(fmt::format("nests deeper than {} levels", kDeepest), "nest less deeply");
    }
    if (json* added = add(std::move(container))) {
      open_.push_back(added);
      keys_.emplace_back();
    }
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  bool place(json value) {
    add(std::move(value));
    return true;
  }

  json* add(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[keys_.back()] = std::move(value));
  }

  bool too_large(const std::string& digits) {
    return fail(fmt::format("whole number {} does not fit into 64 bits", printable(digits)),
                "write a smaller number, or one with a decimal point");
  }

  bool fail(std::string what, std::string fix) {
    std::string pointer;
    for (std::size_t level = 0; level < open_.size(); ++level) {
      const json& container = *open_[level];
      const bool innermost = level + 1 == open_.size();
      const std::size_t index = container.size() - (innermost ? 0 : 1);
      pointer += pointer_step(container.is_array() ? std::to_string(index) : keys_[level]);
    }
    error_ = Error{.code = ErrorCode::kBadInput,
                   .what = std::move(what),
                   .where = place_text(source_, pointer),
                   .fix = std::move(fix)};
    return false;
  }

  std::string_view text_;
  std::string_view source_;
  json root_;
  std::vector<json*> open_;        // Containers being filled, outermost first.
  std::vector<std::string> keys_;  // The key being filled in each; unused for arrays.
  std::optional<Error> error_;
};

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  const bool cut = text.size() > limit;
  const auto continues_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (cut && limit > 0 && continues_character(limit)) --limit;
  const json value = std::string(text.substr(0, limit));
  const std::string quoted = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2) + (cut ? "…" : "");
}

std::string place_text(std::string_view source, std::string_view pointer) {
  return pointer.empty() ? std::string(source) : fmt::format("{}: {}", source, pointer);
}

std::string pointer_step(std::string_view token) {
  std::string step = "/";
  for (const char c : printable(token)) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

Result<json> parse_strictly(std::string_view text, std::string_view source) {
  return StrictBuilder(text, source).run();
}

}  // namespace headrace
