// Numbers that name things. Each kind is a type of its own, so a stage is never passed for a
// device.
#pragma once

#include <cstddef>
#include <type_traits>

namespace headrace {

enum class StageId : int {};       ///< 0 .. S-1, in the order data flows forward.
enum class DeviceId : int {};      ///< 0 .. P-1, the pipeline's devices: one schedule row each.
enum class LayerId : int {};       ///< 0 .. n-1, position in ModelGraph::layers().
enum class MicrobatchId : int {};  ///< 0 .. M-1 within one iteration.

/// The id as an index of a vector.
template <typename Id>
constexpr std::size_t index_of(Id id) {
  static_assert(std::is_enum_v<Id>);
  return static_cast<std::size_t>(static_cast<int>(id));
}

/// The id as a plain number, for messages and arithmetic.
template <typename Id>
constexpr int number_of(Id id) {
  static_assert(std::is_enum_v<Id>);
  return static_cast<int>(id);
}

}  // namespace headrace
