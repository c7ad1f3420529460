// Proves that activity records arrive: fills a little GPU memory and reads the record of it.
#pragma once

#include "core/result.h"
#include "core/units.h"
#include "profiler/cupti/cupti_library.h"

namespace headrace {

/// What CUPTI recorded of one fill.
struct FillActivity {
  Bytes size{0};
  Seconds duration{0};
  friend bool operator==(const FillActivity&, const FillActivity&) = default;
};

/// Fills `size` bytes on `gpu`'s primary context and returns CUPTI's record of it. Replaces the
/// process's activity callbacks: not while something else collects.
/// Fails with kUnavailable when a call fails or no complete record arrives.
Result<FillActivity> record_fill(const CuptiLibrary& library, const Gpu& gpu, Bytes size);

}  // namespace headrace
