// Strict reading of JSON values into nouns: every problem is an Error with a JSON pointer.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/json/field_rules.h"
#include "core/model_spec.h"
#include "core/result.h"
#include "core/text.h"
#include "core/units.h"

namespace headrace {

/// One document being read. The first problem is kept; reading goes on with defaults behind it.
struct ReadContext {
  std::string_view source;
  std::optional<Error> error = {};
};

/// A value's position in the document. Lives on the stack, linked to its parent; the pointer is
/// put together only for a message.
class Place {
 public:
  explicit Place(ReadContext& context) : context_(context) {}
  Place(const Place& parent, std::string_view key)
      : context_(parent.context_), parent_(&parent), key_(key) {}
  Place(const Place& parent, std::size_t index)
      : context_(parent.context_), parent_(&parent), index_(index) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void fail(std::string what, std::string fix) const;
  /// Takes over an error whose `where` is a pointer below this place.
  void adopt(const Error& error) const;
  [[nodiscard]] std::string pointer() const;
  [[nodiscard]] bool failed() const { return context_.error.has_value(); }

 private:
  ReadContext& context_;
  const Place* parent_ = nullptr;
  std::optional<std::string_view> key_;
  std::size_t index_ = 0;
};

/// Fails with "expected a number, found "abc"".
void fail_type(const Place& place, const nlohmann::json& found, std::string_view expected,
               std::string_view example);

void read(const nlohmann::json& value, const Place& place, std::string& out);
void read(const nlohmann::json& value, const Place& place, bool& out);
void read(const nlohmann::json& value, const Place& place, int& out, Limits limits = {});
void read(const nlohmann::json& value, const Place& place, std::int64_t& out);
void read(const nlohmann::json& value, const Place& place, double& out, Range range = {});
void read(const nlohmann::json& value, const Place& place, Seconds& out,
          Sign sign = Sign::kNotNegative);
void read(const nlohmann::json& value, const Place& place, Bytes& out);
void read(const nlohmann::json& value, const Place& place, BytesPerSecond& out);
void read(const nlohmann::json& value, const Place& place, SpecValue& out);

template <HasTextForm T>
void read(const nlohmann::json& value, const Place& place, T& out) {
  using Form = TextForm<T>;
  if (!value.is_string()) return fail_type(place, value, Form::kName, Form::kExample);
  const auto& text = value.template get_ref<const std::string&>();
  if (const auto found = Form::from(text)) {
    out = *found;
    return;
  }
  fail_type(place, value, Form::kName, Form::kExample);
}

template <typename T, typename... Rule>
void read(const nlohmann::json& value, const Place& place, std::optional<T>& out, Rule... rule) {
  read(value, place, out.emplace(), rule...);
}

template <typename T, typename... Rule>
void read(const nlohmann::json& value, const Place& place, std::vector<T>& out, Rule... rule) {
  if (!value.is_array()) return fail_type(place, value, "a list", "[]");
  out.clear();
  out.reserve(value.size());
  for (const nlohmann::json& element : value) {
    if (place.failed()) return;
    const Place at(place, out.size());
    read(element, at, out.emplace_back(), rule...);
  }
}

template <typename T>
void read(const nlohmann::json& value, const Place& place, std::map<std::string, T>& out) {
  if (!value.is_object()) return fail_type(place, value, "an object", "{}");
  out.clear();
  for (const auto& [key, element] : value.items()) {
    const Place at(place, key);
    read(element, at, out[key]);
  }
}

/// Reads the members of one object by the names that a `describe` gives. When it ends it reports
/// keys that nobody asked for, then keys that were missing.
class ObjectReader {
 public:
  static constexpr bool kReads = true;

  ObjectReader(const nlohmann::json& object, const Place& place);
  ~ObjectReader() { finish(); }
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  /// A key that must be there.
  template <typename T, typename... Rule>
  void required(std::string_view key, T& out, Rule... rule) {
    if (const nlohmann::json* value = find_required(key)) read_member(*value, key, out, rule...);
  }

  /// A key that may be absent; `out` then keeps its value.
  template <typename T, typename... Rule>
  void defaulted(std::string_view key, T& out, Rule... rule) {
    if (const nlohmann::json* value = find(key)) read_member(*value, key, out, rule...);
  }

  template <typename T, typename... Rule>
  void optional(std::string_view key, T& out, Rule... rule) {
    defaulted(key, out, rule...);
  }

  /// A key whose value follows from others: it must be there and agree. Ask for it after them.
  void derived(std::string_view key, std::int64_t expected);

  /// An object inside this one that is no noun of its own.
  template <typename Members>
  void object(std::string_view key, const Members& members) {
    if (const nlohmann::json* value = find_required(key)) {
      const Place at(place_, key);
      ObjectReader inner(*value, at);
      members(inner);
    }
  }

  template <typename Members>
  void object_if_present(std::string_view key, const Members& members) {
    if (has(key)) return object(key, members);
    known_.push_back(key);
  }

  /// A list whose objects depend on their position: members(reader, element, index).
  template <typename T, typename Members>
  void list(std::string_view key, std::vector<T>& out, const Members& members) {
    const nlohmann::json* value = find_required(key);
    if (value == nullptr) return;
    const Place at(place_, key);
    if (!value->is_array()) return fail_type(at, *value, "a list", "[]");
    for (const nlohmann::json& element : *value) {
      const std::size_t index = out.size();
      const Place element_at(at, index);
      ObjectReader inner(element, element_at);
      members(inner, out.emplace_back(), static_cast<int>(index));
    }
  }

  /// Every key that is not among the frame's becomes a setting.
  template <typename T>
  void others(bool (*is_frame_key)(std::string_view), std::map<std::string, T>& out) {
    for (const auto& [key, value] : object_->items()) {
      if (is_frame_key(key)) continue;
      const Place at(place_, key);
      read(value, at, out[key]);
      known_.push_back(out.find(key)->first);
    }
  }

  /// Reports what is unknown or missing. Called at the end; earlier where checks rely on the keys.
  void finish() const;

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] const Place& place() const { return place_; }

 private:
  template <typename T, typename... Rule>
  void read_member(const nlohmann::json& value, std::string_view key, T& out, Rule... rule) {
    const Place at(place_, key);
    read(value, at, out, rule...);
  }

  const nlohmann::json* find(std::string_view key);
  const nlohmann::json* find_required(std::string_view key);
  void report_unknown() const;

  const nlohmann::json* object_;
  const Place& place_;
  std::vector<std::string_view> known_;
  std::vector<std::string_view> missing_;
};

/// Any noun that has a `describe`.
template <typename Noun>
void read(const nlohmann::json& value, const Place& place, Noun& out) {
  ObjectReader reader(value, place);
  describe(reader, out);
}

}  // namespace headrace
