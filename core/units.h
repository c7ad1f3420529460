// Physical quantities. A bare `double` of seconds or bytes never crosses a function boundary.
#pragma once

#include <compare>
#include <cstdint>

namespace headrace {

/// A number that knows its unit. Equal units add and compare; mixing units does not compile.
template <typename Unit, typename Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, Rep factor) {
    return Quantity(a.value_ * factor);
  }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) {
    return Quantity(a.value_ / divisor);
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  Rep value_{};
};

using Seconds = Quantity<struct SecondsUnit, double>;
using Bytes = Quantity<struct BytesUnit, std::int64_t>;
using BytesPerSecond = Quantity<struct BytesPerSecondUnit, double>;
using Flops = Quantity<struct FlopsUnit, double>;

/// How many times `b` fits into `a`: equal units divide to a plain number.
constexpr double ratio(Seconds a, Seconds b) {
  return a.value() / b.value();
}
constexpr double ratio(Bytes a, Bytes b) {
  return static_cast<double>(a.value()) / static_cast<double>(b.value());
}

/// The one rule that mixes units: moving `size` over a link takes time.
constexpr Seconds operator/(Bytes size, BytesPerSecond bandwidth) {
  return Seconds(static_cast<double>(size.value()) / bandwidth.value());
}

}  // namespace headrace
