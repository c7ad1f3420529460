#include "tools/headrace/varied_profiles.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "tools/headrace/variation_input.h"

namespace headrace::cli {
namespace {

/// True when `text` matches `pattern`, in which * stands for anything.
bool matches_pattern(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches_pattern(text.substr(skip), pattern.substr(1))) return true;
    }
    return false;
  }
  return !text.empty() && text.front() == pattern.front() &&
         matches_pattern(text.substr(1), pattern.substr(1));
}

bool is_of_kind(const Profile& profile, const std::string& kind) {
  return profile.device.kind == kind || profile.device.name == kind;
}

}  // namespace

Result<void> VariedProfiles::knows_kind(const std::string& kind) const {
  std::string kinds;
  for (const Profile& profile : profiles_) {
    if (is_of_kind(profile, kind)) return {};
    kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : ", ", profile.device.kind,
                         profile.device.name);
  }
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("no profile was measured on '{}', only on {}", kind,
                                      kinds.empty() ? "none" : kinds),
                  .where = "device-kind",
                  .fix = "measure it there and add --profile FILE: peak rates do not predict "
                         "times"});
}

Result<const Profile*> VariedProfiles::of_size(int size) const {
  std::string sizes;
  if (kind_) {
    if (auto ok = knows_kind(*kind_); !ok) return Failure(ok.error());
  }
  for (const Profile& profile : profiles_) {
    if (kind_ && !is_of_kind(profile, *kind_)) continue;
    if (profile.micro_batch_size == size) return &profile;
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", profile.micro_batch_size);
  }
  return Failure(
      {.code = ErrorCode::kUsage,
       .what = sizes.empty()
                   ? "the profile of the plan's model is not at hand"
                   : fmt::format("no profile has micro-batches of {}, only of {}", size, sizes),
       .where = "--profile",
       .fix = sizes.empty() ? "add --profile FILE"
                            : fmt::format("measure it and add --profile FILE: times are never "
                                          "extrapolated (headrace profile --micro-batch {})",
                                          size)});
}

Result<double> VariedProfiles::factor_of(const std::string& id, std::vector<bool>& used) const {
  double factor = 1;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const std::string_view pattern = std::string_view(changes_[i].key).substr(sizeof("layer"));
    const bool hit = matches_pattern(id, pattern) || id.starts_with(std::string(pattern) + ".");
    if (!hit) continue;
    if (!changes_[i].multiplies) {
      return bad_change(changes_[i], "the times of a layer are several",
                        "use a factor: layer.head*=1.5");
    }
    const auto number = positive_number(changes_[i]);
    if (!number) return Failure(number.error());
    factor *= *number;
    used[i] = true;
  }
  return factor;
}

Result<void> VariedProfiles::all_used(const std::vector<bool>& used) const {
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) {
      return bad_change(changes_[i], "no layer of the profile matches",
                        "name layers as the profile does; * stands for anything");
    }
  }
  return {};
}

Result<Profile> VariedProfiles::scaled(int size) const {
  const auto profile = of_size(size);
  if (!profile) return Failure(profile.error());
  Profile scaled = **profile;
  std::vector<bool> used(changes_.size());
  std::vector<Layer> layers(scaled.graph.layers().begin(), scaled.graph.layers().end());
  for (Layer& layer : layers) {
    const auto factor = factor_of(layer.id, used);
    if (!factor) return Failure(factor.error());
    const auto scale = [&](Duration& time) { time.mean = time.mean * *factor; };
    scale(layer.forward);
    scale(layer.backward);
    if (layer.input_grad) scale(*layer.input_grad);
    if (layer.weight_grad) scale(*layer.weight_grad);
  }
  if (auto ok = all_used(used); !ok) return Failure(ok.error());
  if (!changes_.empty()) {
    const auto edges = scaled.graph.edges();
    auto graph = ModelGraph::build(std::move(layers), {edges.begin(), edges.end()});
    if (!graph) return Failure(graph.error());
    scaled.graph = *std::move(graph);
  }
  return scaled;
}

}  // namespace headrace::cli
