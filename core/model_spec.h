// A model as its family's name and sizes: what it takes to build the same layers again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace headrace {

/// One setting of a model or of a foreign configuration file.
using SpecValue = std::variant<bool, std::int64_t, double, std::string>;

/// Family ("gpt2", "llama", "encoder", "mlp", "convnet") and its settings by name, such as
/// {"hidden_size", 512}. Which names a family knows, and their defaults, is decided in models/.
struct ModelSpec {
  std::string family;
  std::string name;                         ///< What people call it: "gpt2-small-demo".
  std::map<std::string, SpecValue> values;  ///< Sorted, so equal specs give equal text.
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace headrace
