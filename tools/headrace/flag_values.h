// How the text of one flag becomes a value: numbers, quantities with units, lists and names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "core/result.h"
#include "core/units.h"

namespace headrace::cli {

/// Reads one value of a flag into wherever it belongs; `where` is what errors name ("--stages").
using ValueReader = std::function<Result<void>(const std::string& text, const std::string& where)>;

/// Activation per stage: bare numbers are units of the reports, sizes are also bytes of memory.
using ActivationList = std::variant<std::vector<double>, std::vector<Bytes>>;

// Each returns a reader that fills `target`, which must outlive it. All fail with kUsage.
ValueReader text_into(std::string& target);
ValueReader texts_into(std::vector<std::string>& target);  ///< For flags that may be repeated.
/// "1f1b,zb-h1": words, none empty or twice.
ValueReader words_into(std::vector<std::string>& target);
ValueReader count_into(std::optional<int>& target, int least = 1);
/// "3,1": whole numbers, each at least 1.
ValueReader counts_into(std::vector<int>& target);
ValueReader time_into(std::optional<Seconds>& target);
ValueReader bytes_into(std::optional<Bytes>& target);
/// "4GB", "1GB,2GB" or "1,2,3GB".
ValueReader sizes_into(std::vector<Bytes>& target);
/// "25GB/s".
ValueReader bandwidth_into(std::optional<BytesPerSecond>& target);
/// "8%" or "0.08"; from 0 to 1.
ValueReader fraction_into(std::optional<double>& target);
/// One of `choices`, with "did you mean".
ValueReader choice_into(std::string& target, std::vector<std::string_view> choices);
/// "2ms", "1ms,2ms" or "1,2,3ms": a unit may stand on each, the last one's is for all without.
ValueReader times_into(std::vector<Seconds>& target);
ValueReader activations_into(std::optional<ActivationList>& target);

/// One value for every stage from a list with one for all or one each.
template <typename T>
Result<std::vector<T>> per_stage(const std::vector<T>& values, int stages, std::string_view flag) {
  if (values.size() == static_cast<std::size_t>(stages)) return values;
  if (values.size() == 1) return std::vector<T>(static_cast<std::size_t>(stages), values.front());
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("{} values for {} stages", values.size(), stages),
                  .where = std::string(flag),
                  .fix = fmt::format("give 1 value for all stages or {}, one per stage", stages)});
}

}  // namespace headrace::cli
