// The keys of --set and --sweep: what can be varied, and how a text becomes a change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "tools/headrace/flag_values.h"

namespace headrace::cli {

/// "stage.2.forward=3ms" or "layer.head.*=1.5": a key with a value, or with a factor.
struct Change {
  std::string key;    ///< Without a trailing "." or "*".
  std::string value;  ///< As given.
  bool multiplies = false;
};

/// Collects changes; for flags that may be repeated.
ValueReader changes_into(std::vector<Change>& target);

/// One key and the values that are tried for it.
struct Sweep {
  std::string key;
  std::vector<std::string> values;
  bool multiplies = false;
};

/// Fails with kUsage on text without "=", or an unknown key (with "did you mean").
Result<Change> change_from_text(const std::string& text, const std::string& where);

/// "micro-batches=4,8,16". Fails likewise, and on no value or one that is given twice.
Result<Sweep> sweep_from_text(const std::string& text, const std::string& where);

/// The part of a key between dots: piece 1 of "link.0-1.gbps" is "0-1"; empty where there is none.
std::string_view piece_of(std::string_view key, std::size_t index);

/// Every key with what it means, for --help-all and messages.
struct KeyHelp {
  std::string_view key;
  std::string_view meaning;
};
const std::vector<KeyHelp>& variation_keys();

}  // namespace headrace::cli
