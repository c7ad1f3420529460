// Reading a flattened Hugging Face configuration under the names that Hugging Face uses.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/model_spec.h"
#include "core/result.h"

namespace headrace {

/// A configuration and the file it came from. Settings of a language model nested in "text_config"
/// are found under their own names.
class ForeignConfig {
 public:
  ForeignConfig(const ModelSpec& config, std::string source);

  /// Null where the configuration leaves it out (or says null).
  [[nodiscard]] const SpecValue* find(const std::string& name) const;
  /// The value as text, or `fallback`.
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback) const;
  /// The value as a flag, or `fallback`.
  [[nodiscard]] bool flag(const std::string& name, bool fallback) const;

  /// Sets `ours` of `spec` from `theirs`, where that is present.
  void copy(ModelSpec& spec, const std::string& ours, const std::string& theirs) const;
  /// The same for pairs of {ours, theirs} that must be present; fails with kBadInput otherwise.
  Result<void> require(ModelSpec& spec,
                       std::initializer_list<std::pair<const char*, const char*>> names) const;
  /// Sets `ours` to our name of the activation function `theirs`; fails on one we do not have.
  Result<void> activation(ModelSpec& spec, const std::string& ours, const std::string& theirs,
                          const std::string& fallback) const;

  /// A kBadInput error about `name`.
  [[nodiscard]] Error error(const std::string& name, std::string what, std::string fix) const;

 private:
  const ModelSpec& config_;
  std::string source_;
};

}  // namespace headrace
