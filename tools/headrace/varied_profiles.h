// The profiles of a plan's model, and what a variation makes of them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/profile.h"
#include "core/result.h"
#include "tools/headrace/variation_keys.h"

namespace headrace::cli {

/// Chooses a profile by micro-batch size and device kind, and multiplies the times of layers. All
/// failures are kUsage and name the change.
class VariedProfiles {
 public:
  /// `profiles` must outlive this.
  explicit VariedProfiles(const std::vector<Profile>& profiles) : profiles_(profiles) {}

  /// By ProfiledDevice's kind or name; without it the first profile that fits is taken.
  void choose_kind(std::string kind) { kind_ = std::move(kind); }
  /// `change.key` is "layer.PATTERN".
  void change_layers(const Change& change) { changes_.push_back(change); }

  [[nodiscard]] const std::optional<std::string>& kind() const { return kind_; }
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  /// As it was measured.
  [[nodiscard]] Result<const Profile*> of_size(int micro_batch_size) const;
  /// With the times of the changed layers.
  [[nodiscard]] Result<Profile> scaled(int micro_batch_size) const;

  /// The product of all changes of layer `id`; marks those that matched in `used`.
  Result<double> factor_of(const std::string& id, std::vector<bool>& used) const;
  /// Fails on a change that matched no layer.
  [[nodiscard]] Result<void> all_used(const std::vector<bool>& used) const;

 private:
  [[nodiscard]] Result<void> knows_kind(const std::string& kind) const;

  const std::vector<Profile>& profiles_;
  std::optional<std::string> kind_;
  std::vector<Change> changes_;
};

}  // namespace headrace::cli
