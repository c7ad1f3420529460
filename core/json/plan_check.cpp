// The checks of a plan, each with the pointer to the number that is wrong.
#include "core/json/plan_check.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/core.h>

#include "core/json/strict_parse.h"

namespace headrace {
namespace {

/// Walks the stages and remembers which stage every layer was seen in.
class PlanChecker {
 public:
  PlanChecker(const Place& root, const Plan& plan) : root_(root), plan_(plan) {
    for (const Device& device : plan.inputs.cluster.devices) devices_.push_back(device.id);
  }

  void run() {
    check_counts();
    const Place stages(root_, "stages");
    for (std::size_t s = 0; s < plan_.stages.size() && !root_.failed(); ++s) {
      const Place at(stages, s);
      check_devices(at, plan_.stages[s]);
      check_layers(at, plan_.stages[s], s);
      check_recompute(at, plan_.stages[s]);
    }
    check_boundaries();
    check_tied();
  }

 private:
  void check_counts() {
    const Parallel& parallel = plan_.parallel;
    const auto expected = std::int64_t{parallel.pipeline} * parallel.virtual_stages;
    if (static_cast<std::int64_t>(plan_.stages.size()) == expected) return;
    Place(root_, "stages")
        .fail(fmt::format("{} stages, pipeline {} x virtual {} makes {}", plan_.stages.size(),
                          parallel.pipeline, parallel.virtual_stages, expected),
              "list every stage, or correct /parallel");
  }

  void check_devices(const Place& stage_place, const PlanStage& stage) {
    const Place at(stage_place, "devices");
    const Parallel& parallel = plan_.parallel;
    const auto expected = std::int64_t{parallel.data} * parallel.tensor;
    if (static_cast<std::int64_t>(stage.devices.size()) != expected) {
      return at.fail(fmt::format("{} devices, data {} x tensor {} makes {}", stage.devices.size(),
                                 parallel.data, parallel.tensor, expected),
                     "name one device per replica, or correct /parallel");
    }
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < stage.devices.size(); ++i) {
      const std::string& id = stage.devices[i];
      if (std::ranges::find(devices_, std::string_view(id)) == devices_.end()) {
        Place(at, i).fail(fmt::format("device '{}' is not in the plan's cluster{}", printable(id),
                                      did_you_mean(id, devices_)),
                          "use the id of a device in /inputs/cluster/devices");
      } else if (!seen.insert(id).second) {
        Place(at, i).fail(fmt::format("device '{}' is listed twice", printable(id)),
                          "give every replica a device of its own");
      }
    }
  }

  void check_layers(const Place& stage_place, const PlanStage& stage, std::size_t index) {
    const Place at(stage_place, "layers");
    if (stage.layers.empty()) at.fail("a stage without layers", "give it at least one layer");
    for (std::size_t i = 0; i < stage.layers.size(); ++i) {
      const auto [first, fresh] = stage_of_.emplace(stage.layers[i], index);
      if (fresh) continue;
      Place(at, i).fail(fmt::format("layer '{}' is already in stage {}", printable(stage.layers[i]),
                                    first->second),
                        "keep every layer in exactly one stage");
    }
  }

  void check_recompute(const Place& stage_place, const PlanStage& stage) {
    const Place at(stage_place, "recompute");
    for (std::size_t i = 0; i < stage.recompute.size(); ++i) {
      if (std::ranges::find(stage.layers, stage.recompute[i]) != stage.layers.end()) continue;
      Place(at, i).fail(
          fmt::format("layer '{}' is not in this stage", printable(stage.recompute[i])),
          "recompute only layers of the stage");
    }
  }

  void check_tied() {
    const Place list(root_, "tied_weights");
    for (std::size_t i = 0; i < plan_.tied.size() && !root_.failed(); ++i) {
      const Place at(list, i);
      const std::vector<int>& stages = plan_.tied[i].stages;
      if (stages.size() < 2 || !std::ranges::is_sorted(stages, std::less_equal<>{})) {
        Place(at, "stages")
            .fail("tied weights need two stages or more, ascending",
                  "list every stage that has a copy once");
      } else if (stages.front() < 0 ||
                 static_cast<std::size_t>(stages.back()) >= plan_.stages.size()) {
        Place(at, "stages")
            .fail(fmt::format("stage {}, there are {}",
                              stages.front() < 0 ? stages.front() : stages.back(),
                              plan_.stages.size()),
                  "use stages 0 to S - 1");
      }
    }
  }

  void check_boundaries() {
    const Place list(root_, "boundaries");
    for (std::size_t i = 0; i < plan_.boundaries.size() && !root_.failed(); ++i) {
      const Place at(list, i);
      const Boundary& boundary = plan_.boundaries[i];
      const auto stage = static_cast<std::size_t>(boundary.stage);
      if (stage + 1 >= plan_.stages.size()) {
        Place(at, "stage")
            .fail(fmt::format("no border follows stage {}, there are {} stages", boundary.stage,
                              plan_.stages.size()),
                  "use stages 0 to S - 2");
      } else if (plan_.stages[stage].layers.back() != boundary.after_layer) {
        Place(at, "after_layer")
            .fail(fmt::format("stage {} ends with layer '{}', not '{}'", boundary.stage,
                              printable(plan_.stages[stage].layers.back()),
                              printable(boundary.after_layer)),
                  "name the last layer of the stage");
      }
    }
  }

  const Place& root_;
  const Plan& plan_;
  std::vector<std::string_view> devices_;
  std::unordered_map<std::string_view, std::size_t> stage_of_;
};

}  // namespace

void check_plan(const Place& root, const Plan& plan) {
  PlanChecker(root, plan).run();
}

}  // namespace headrace
