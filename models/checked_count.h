// Counts that say when they no longer fit 63 bits, instead of wrapping.
#pragma once

#include <cstdint>

namespace headrace {

/// A count of parameters or elements. Once overflowed, every result stays overflowed.
class CheckedCount {
 public:
  constexpr CheckedCount() = default;
  constexpr explicit CheckedCount(std::int64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  [[nodiscard]] constexpr bool overflowed() const { return overflowed_; }

  friend constexpr CheckedCount operator+(CheckedCount a, CheckedCount b) {
    CheckedCount sum;
    sum.overflowed_ = __builtin_add_overflow(a.value_, b.value_, &sum.value_);
    sum.overflowed_ |= a.overflowed_ || b.overflowed_;
    return sum;
  }
  friend constexpr CheckedCount operator*(CheckedCount a, CheckedCount b) {
    CheckedCount product;
    product.overflowed_ = __builtin_mul_overflow(a.value_, b.value_, &product.value_);
    product.overflowed_ |= a.overflowed_ || b.overflowed_;
    return product;
  }
  friend constexpr CheckedCount operator*(std::int64_t a, CheckedCount b) {
    return CheckedCount(a) * b;
  }
  constexpr CheckedCount& operator+=(CheckedCount other) { return *this = *this + other; }

 private:
  std::int64_t value_ = 0;
  bool overflowed_ = false;
};

}  // namespace headrace
