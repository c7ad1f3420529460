// Nouns to JSON values with a stable order of keys: the mirror of object_reader.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/json/field_rules.h"
#include "core/model_spec.h"
#include "core/units.h"

namespace headrace {

using OrderedJson = nlohmann::ordered_json;

inline OrderedJson written(const std::string& value) {
  return value;
}
inline OrderedJson written(bool value) {
  return value;
}
inline OrderedJson written(int value) {
  return value;
}
inline OrderedJson written(std::int64_t value) {
  return value;
}
inline OrderedJson written(double value) {
  return value;
}
inline OrderedJson written(Seconds value) {
  return value.value();
}
inline OrderedJson written(Bytes value) {
  return value.value();
}
inline OrderedJson written(BytesPerSecond value) {
  return value.value();
}
inline OrderedJson written(const SpecValue& value) {
  return std::visit([](const auto& held) { return OrderedJson(held); }, value);
}

/// Any noun that has a `describe`.
template <typename Noun>
OrderedJson written(const Noun& noun);

template <HasTextForm T>
OrderedJson written(const T& value) {
  return TextForm<T>::to(value);
}

template <typename T>
OrderedJson written(const std::vector<T>& values) {
  OrderedJson list = OrderedJson::array();
  for (const T& value : values) list.push_back(written(value));
  return list;
}

template <typename T>
OrderedJson written(const std::map<std::string, T>& values) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [key, value] : values) object[key] = written(value);
  return object;
}

/// Writes the members of one object by the names that a `describe` gives.
class ObjectWriter {
 public:
  static constexpr bool kReads = false;

  template <typename T, typename... Rule>
  void required(std::string_view key, const T& value, Rule... /*rule*/) {
    set(key, written(value));
  }

  /// Always written; readers may do without.
  template <typename T, typename... Rule>
  void defaulted(std::string_view key, const T& value, Rule... /*rule*/) {
    set(key, written(value));
  }

  /// Left out where it holds nothing.
  template <typename T, typename... Rule>
  void optional(std::string_view key, const T& value, Rule... /*rule*/) {
    if (value != T{}) set(key, written(value));
  }
  template <typename T, typename... Rule>
  void optional(std::string_view key, const std::optional<T>& value, Rule... /*rule*/) {
    if (value) set(key, written(*value));
  }

  void derived(std::string_view key, std::int64_t value) { set(key, value); }

  template <typename Members>
  void object(std::string_view key, const Members& members) {
    ObjectWriter inner;
    members(inner);
    set(key, std::move(inner).take());
  }

  template <typename T, typename Members>
  void list(std::string_view key, const std::vector<T>& values, const Members& members) {
    OrderedJson array = OrderedJson::array();
    for (const T& value : values) {
      ObjectWriter inner;
      members(inner, value, static_cast<int>(array.size()));
      array.push_back(std::move(inner).take());
    }
    set(key, std::move(array));
  }

  void set(std::string_view key, OrderedJson value) {
    object_.emplace(std::string(key), std::move(value));
  }
  [[nodiscard]] OrderedJson take() && { return std::move(object_); }

 private:
  OrderedJson object_ = OrderedJson::object();
};

template <typename Noun>
OrderedJson written(const Noun& noun) {
  ObjectWriter writer;
  describe(writer, noun);
  return std::move(writer).take();
}

}  // namespace headrace
