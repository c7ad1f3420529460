// A configuration file in JSON: the flags of a command, written down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace headrace {

/// One setting: a name, behind its section's where it has one ("plan.devices"), and its values as
/// the text that a command line would hold; "true" and "false" for a switch.
struct Setting {
  std::string name;
  std::vector<std::string> values;
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Reads one object of texts, numbers, truth values, lists of these, and sections (objects of
/// them). Fails with kBadInput on anything else, as strictly as the documents are read.
Result<std::vector<Setting>> settings_from_json(std::string_view text, std::string_view source);

}  // namespace headrace
