// What the fields of documents may hold, shared by reading and writing.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/cluster.h"
#include "core/model_graph.h"
#include "core/schedule.h"
#include "core/simulation.h"
#include "core/timeline.h"

namespace headrace {

/// Whole numbers that are counts: a million stages or devices is a slip, not a cluster.
struct Limits {
  int low = 0;
  int high = 1'000'000;
};
inline constexpr Limits kAtLeastOne{.low = 1};
/// Batches and sequences count samples and tokens.
inline constexpr Limits kAnyCount{.high = std::numeric_limits<int>::max()};
inline constexpr Limits kAnyPositive{.low = 1, .high = std::numeric_limits<int>::max()};

struct Range {
  double low = -std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::max();
};

/// Differences of times may be negative, times may not.
enum class Sign { kNotNegative, kAny };

/// True for `Noun` and `const Noun`: lets one `describe` serve reading and writing.
template <typename T, typename Noun>
concept Of = std::same_as<std::remove_const_t<T>, Noun>;

/// Types that documents hold as text: to(value), from(text), and how to name them in a message.
template <typename T>
struct TextForm;

template <typename T>
concept HasTextForm = requires(T value) {
  TextForm<T>::to(value);
};

template <>
struct TextForm<Action> {
  static constexpr std::string_view kName = "an action";
  static constexpr std::string_view kExample = "\"2F5\"";
  static std::string to(const Action& action) { return to_string(action); }
  static std::optional<Action> from(std::string_view text) { return action_from_text(text); }
};

template <>
struct TextForm<Origin> {
  static constexpr std::string_view kName =
      "one of measured, interpolated, catalogue, assumed, imported";
  static constexpr std::string_view kExample = "\"measured\"";
  static std::string to(Origin origin) { return std::string(name_of(origin)); }
  static std::optional<Origin> from(std::string_view text) { return origin_from_name(text); }
};

template <>
struct TextForm<Duplex> {
  static constexpr std::string_view kName = "full or half";
  static constexpr std::string_view kExample = "\"full\"";
  static std::string to(Duplex duplex) { return duplex == Duplex::kFull ? "full" : "half"; }
  static std::optional<Duplex> from(std::string_view text) {
    if (text == "full") return Duplex::kFull;
    if (text == "half") return Duplex::kHalf;
    return std::nullopt;
  }
};

template <>
struct TextForm<Cause> {
  static constexpr std::string_view kName = "one of start, device, message, partner";
  static constexpr std::string_view kExample = "\"message\"";
  static std::string to(Cause cause) { return std::string(name_of(cause)); }
  static std::optional<Cause> from(std::string_view text) {
    for (const Cause cause :
         {Cause::kStart, Cause::kDevice, Cause::kMessage, Cause::kPartner, Cause::kCopy}) {
      if (name_of(cause) == text) return cause;
    }
    return std::nullopt;
  }
};

template <>
struct TextForm<TimelineSource> {
  static constexpr std::string_view kName = "one of predicted, measured, emulated";
  static constexpr std::string_view kExample = "\"predicted\"";
  static std::string to(TimelineSource source) { return std::string(name_of(source)); }
  static std::optional<TimelineSource> from(std::string_view text) {
    for (const TimelineSource source :
         {TimelineSource::kPredicted, TimelineSource::kMeasured, TimelineSource::kEmulated}) {
      if (name_of(source) == text) return source;
    }
    return std::nullopt;
  }
};

}  // namespace headrace
