// Turns borders into plans: everything that follows from where the chain is cut.
#pragma once

#include <optional>
#include <vector>

#include "core/plan.h"
#include "planner/chain_probe.h"
#include "planner/planner.h"

namespace headrace {

/// Builds plans of one profile, cluster and request, all of which must outlive it and agree
/// (make_plan checks that). Deterministic.
class PlanBuilder {
 public:
  PlanBuilder(const Profile& profile, const Cluster& cluster, const PlanRequest& request);

  /// All of a plan but bound, gap, exact, predicted, baselines, boundaries and notes; file names
  /// stay empty. O(layers).
  [[nodiscard]] Plan plan_of(const Borders& borders) const;

  /// The first stage that needs more than its device has; absent where the plan fits.
  /// With several stages per device the first stage of the first such device.
  [[nodiscard]] std::optional<int> overfull_stage(const Plan& plan) const;

  /// What the device of stage `s` holds at its peak: that stage's own memory, or all of its
  /// device's stages together.
  [[nodiscard]] Bytes device_memory(const Plan& plan, std::size_t s) const;

  /// Of the device of stage `s`; absent where no limit is known.
  [[nodiscard]] std::optional<Bytes> device_capacity(std::size_t s) const;

  /// No cut's optimizer step is shorter than this.
  [[nodiscard]] Seconds least_optimizer_step() const;

 private:
  [[nodiscard]] PlanStage stage_of(int stage, int first, int last) const;
  [[nodiscard]] Bytes shared_memory(const Plan& plan, std::size_t device) const;
  void add_device_sums(Plan& plan, const std::vector<double>& shares) const;
  [[nodiscard]] bool input_needs_no_gradient() const;
  [[nodiscard]] double optimizer_share(Bytes parameters, int layers) const;

  const Profile& profile_;
  const Cluster& cluster_;
  const PlanRequest& request_;
  std::vector<Bytes> border_bytes_;
  Bytes parameters_{0};  // Of the whole model, ties once.
};

/// The scorer with a memory: plans whose stages cost the same are scored once.
class ScoreBook {
 public:
  explicit ScoreBook(const PlanScorer& scorer) : scorer_(scorer) {}

  struct Entry {
    Seconds iteration{0};
    bool fresh = true;  ///< The scorer was asked for it just now.
  };
  Result<Entry> score(const Plan& plan);
  [[nodiscard]] bool can_score() const { return static_cast<bool>(scorer_); }

 private:
  const PlanScorer& scorer_;
  std::map<std::vector<double>, Seconds> known_;
};

}  // namespace headrace
