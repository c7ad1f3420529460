#include "planner/cut_record.h"

#include <tuple>

namespace headrace {
namespace {

constexpr double kSameTime = 1e-12;  // Relative: rounding of sums in another order.

}  // namespace

Result<bool> CutRecord::offer(const Borders& borders) {
  const auto answer = scorer_(borders);
  if (!answer) return Failure(answer.error());
  if (answer->fresh) ++scored_;
  const std::int64_t bytes = bytes_of(borders);
  const bool first = borders_.empty();
  const double ours = iteration_.value();
  const double theirs = answer->iteration.value();
  const bool faster = first || theirs < ours * (1 - kSameTime);
  const bool as_fast = !faster && theirs <= ours * (1 + kSameTime);
  if (faster || (as_fast && std::tie(bytes, borders) < std::tie(bytes_, borders_))) {
    borders_ = borders;
    iteration_ = answer->iteration;
    bytes_ = bytes;
  }
  return faster;
}

bool CutRecord::can_improve(Seconds bound) const {
  return bound.value() < iteration_.value() * (1 - kSameTime);
}

std::int64_t CutRecord::bytes_of(const Borders& borders) const {
  std::int64_t bytes = 0;
  for (const int border : borders) bytes += costs_.border_bytes(border);
  return bytes;
}

}  // namespace headrace
