#include "planner/grid_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "core/text.h"

namespace headrace {
namespace {

constexpr int kFinalists = 6;
constexpr int kFinalistScores = 300;
constexpr double kSame = 1e-12;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Position in the cluster of pipeline device p of replica r.
std::size_t place_of(const GridPoint& point, int p, int r) {
  return at(point.replicas_together ? p * point.data + r : r * point.pipeline + p);
}

bool has(const std::vector<Device>& devices, const std::string& id) {
  return std::ranges::find(devices, id, &Device::id) != devices.end();
}

/// The devices of the first replica with the links between them.
Cluster first_replica(const Cluster& all, const GridPoint& point) {
  Cluster cluster{.intra_node = all.intra_node, .inter_node = all.inter_node};
  for (int p = 0; p < point.pipeline; ++p) {
    cluster.devices.push_back(all.devices[place_of(point, p, 0)]);
  }
  for (const Link& link : all.links) {  // Few: most pairs have the defaults.
    if (has(cluster.devices, link.from) && has(cluster.devices, link.to)) {
      cluster.links.push_back(link);
    }
  }
  return cluster;
}

/// True where every stage's replicas are equally fast and large.
bool replicas_are_equal(const Cluster& all, const GridPoint& point) {
  for (int p = 0; p < point.pipeline; ++p) {
    const Device& first = all.devices[place_of(point, p, 0)];
    for (int r = 1; r < point.data; ++r) {
      const Device& other = all.devices[place_of(point, p, r)];
      if (other.speed != first.speed || other.memory != first.memory) return false;
    }
  }
  return true;
}

/// A plan of the first replica as one of all.
Plan with_replicas(Plan plan, const GridTask& task, const GridPoint& point) {
  const std::vector<Device> first = std::move(plan.inputs.cluster.devices);
  plan.inputs.cluster = task.cluster;
  plan.parallel.data = point.data;
  plan.global_batch = task.global_batch;
  for (PlanStage& stage : plan.stages) {
    const auto found = std::ranges::find(first, stage.devices.front(), &Device::id);
    const auto p = static_cast<int>(found - first.begin());
    stage.devices.clear();
    for (int r = 0; r < point.data; ++r) {
      stage.devices.push_back(task.cluster.devices[place_of(point, p, r)].id);
    }
  }
  return plan;
}

/// Bytes that cross links in an iteration: activations and their gradients, and the gradients of
/// the weights as a ring all-reduce sends them.
Bytes traffic_of(const Plan& plan, const GridPoint& point) {
  Bytes messages{0};
  Bytes gradients{0};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    gradients += plan.stages[s].memory.gradients;
    const bool crosses = s + 1 < plan.stages.size() &&
                         plan.stages[s].devices.front() != plan.stages[s + 1].devices.front();
    if (crosses) messages += plan.stages[s].output;
  }
  const std::int64_t microbatches = std::int64_t{point.microbatches} * point.data;
  return messages * (2 * microbatches) + gradients * (2 * (point.data - 1));
}

struct Entry {
  GridPoint point;
  Plan plan;
  Seconds iteration{0};
  Seconds bound{0};
};

class Grid {
 public:
  explicit Grid(const GridTask& task) : task_(task) { find_work(); }

  Result<Plan> run() {
    enumerate();
    for (const auto& [bound, point] : points_) {
      if (auto ok = visit(point, bound); !ok) return Failure(ok.error());
    }
    if (entries_.empty()) return Failure(nothing_possible());
    sort_entries();
    if (auto ok = plan_finalists(); !ok) return Failure(ok.error());
    return winner();
  }

 private:
  void find_work() {
    double fastest = 0;
    for (const Device& device : task_.cluster.devices) fastest = std::max(fastest, device.speed);
    for (const Profile& profile : task_.profiles) {
      Work work;
      for (const Layer& layer : profile.graph.layers()) {
        Seconds time = layer.forward.mean + layer.backward.mean;
        if (layer.input_grad && layer.weight_grad) {
          time =
              std::min(time, layer.forward.mean + layer.input_grad->mean + layer.weight_grad->mean);
        }
        work.total += time * (1 / fastest);
        work.heaviest = std::max(work.heaviest, time * (1 / fastest));
      }
      work_.push_back(work);
    }
  }

  void enumerate() {
    for (std::size_t profile = 0; profile < task_.profiles.size(); ++profile) {
      const int size = task_.profiles[profile].micro_batch_size;
      const auto devices = static_cast<int>(task_.cluster.devices.size());
      for (int data = 1; data <= devices; ++data) {
        if (task_.data.value_or(data) != data) continue;
        if (task_.global_batch % (std::int64_t{data} * size) != 0) {
          if (task_.data) ++uneven_;
          continue;
        }
        GridPoint point{
            .profile = profile, .data = data, .microbatches = task_.global_batch / (data * size)};
        add_schedules(point, devices / data);
      }
    }
    std::ranges::stable_sort(points_, {}, [](const auto& entry) { return entry.first; });
  }

  void add_schedules(GridPoint point, int room) {
    const auto layers = static_cast<int>(task_.profiles[point.profile].graph.layers().size());
    for (const GridSchedule& schedule : task_.schedules) {
      point.schedule = schedule.name;
      for (const int virtual_stages : schedule.virtual_stages) {
        const int depth =
            task_.stages ? *task_.stages / virtual_stages : std::min(room, layers / virtual_stages);
        if (depth < 1 || depth > room) continue;
        if (task_.stages && depth * virtual_stages != *task_.stages) continue;
        point.pipeline = depth;
        point.virtual_stages = virtual_stages;
        add_places(point);
      }
    }
  }

  void add_places(GridPoint point) {
    // A pipeline of one stage on one device has nothing to interleave and no order to choose.
    const bool single = point.pipeline == 1;
    if (single && (point.virtual_stages > 1 || point.schedule != task_.schedules.front().name)) {
      return;
    }
    const Work& work = work_[point.profile];
    const Seconds stage = std::max(work.total * (1.0 / point.pipeline), work.heaviest);
    for (const bool together : {false, true}) {
      point.replicas_together = together;
      if (together && (single || point.data == 1 || links_are_equal())) continue;
      if (!replicas_are_equal(task_.cluster, point)) {
        ++unequal_;
        continue;
      }
      points_.emplace_back(stage * point.microbatches, point);
    }
  }

  [[nodiscard]] bool links_are_equal() const {
    const auto& devices = task_.cluster.devices;
    const bool one_node = std::ranges::all_of(
        devices, [&](const Device& device) { return device.node == devices.front().node; });
    return task_.cluster.links.empty() &&
           (one_node || task_.cluster.intra_node == task_.cluster.inter_node);
  }

  /// Plans of the first replica, and what they take with all of them.
  Result<Plan> solve(const GridPoint& point, const PreparedPoint& prepared, bool brief,
                     const std::string& objective, int scores) const {
    PlanRequest request = prepared.request;
    request.objective = objective;
    request.brief = brief;
    request.scored_plans = scores;
    return make_plan(
        task_.profiles[point.profile], first_replica(task_.cluster, point), request,
        [&](const Plan& plan) { return prepared.scorer(with_replicas(plan, task_, point)); });
  }

  /// Errors that say that a point is none, not that something is wrong.
  static bool is_no_point(const Error& error) {
    return error.code == ErrorCode::kInfeasible || error.code == ErrorCode::kUsage ||
           error.code == ErrorCode::kDeadlock;
  }

  Result<void> visit(const GridPoint& point, Seconds bound) {
    if (best_ && bound.value() >= best_->value() * (1 - kSame)) {
      ++pruned_;
      return {};
    }
    const auto prepared = task_.prepare(point);
    if (!prepared) return not_possible(prepared.error());
    auto plan = solve(point, *prepared, /*brief=*/true, "bottleneck", 1);
    if (!plan) return not_possible(plan.error());
    Plan whole = with_replicas(*std::move(plan), task_, point);
    const auto iteration = prepared->scorer(whole);
    if (!iteration) return Failure(iteration.error());
    best_ = std::min(best_.value_or(*iteration), *iteration);
    entries_.push_back(
        {.point = point, .plan = std::move(whole), .iteration = *iteration, .bound = bound});
    return {};
  }

  Result<void> not_possible(const Error& error) {
    if (!is_no_point(error)) return Failure(error);
    ++impossible_;
    if (!first_reason_) first_reason_ = error;
    return {};
  }

  void sort_entries() {
    std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return entry.iteration; });
  }

  Result<void> plan_finalists() {
    if (task_.objective == "bottleneck") return {};
    const auto count = std::min<std::size_t>(kFinalists, entries_.size());
    for (std::size_t i = 0; i < count; ++i) {
      Entry& entry = entries_[i];
      const auto prepared = task_.prepare(entry.point);
      if (!prepared) return Failure(prepared.error());
      auto plan = solve(entry.point, *prepared, true, "iteration-time", kFinalistScores);
      if (!plan) continue;
      const Plan whole = with_replicas(*plan, task_, entry.point);
      const auto iteration = prepared->scorer(whole);
      if (!iteration) return Failure(iteration.error());
      entry.bound = std::max(entry.bound, plan->bound);
      if (*iteration > entry.iteration) continue;
      entry.plan = whole;
      entry.iteration = *iteration;
    }
    sort_entries();
    return {};
  }

  Result<Plan> winner() {
    const Entry& best = entries_.front();
    const auto prepared = task_.prepare(best.point);
    if (!prepared) return Failure(prepared.error());
    auto solved =
        solve(best.point, *prepared, false, task_.objective, prepared->request.scored_plans);
    if (!solved) return solved;
    Plan plan = with_replicas(*std::move(solved), task_, best.point);
    const auto iteration = prepared->scorer(plan);
    if (!iteration) return Failure(iteration.error());
    if (task_.objective != "bottleneck") judge(plan, *iteration);
    if (auto ok = add_alternatives(plan, *iteration); !ok) return Failure(ok.error());
    plan.notes.push_back(
        fmt::format("chosen from {} combinations of replicas, depth, stages per device, schedule "
                    "and micro-batch size: {} simulated, {} cannot be faster, {} are not possible",
                    points_.size(), entries_.size(), pruned_, impossible_));
    if (unequal_ > 0) {
      plan.notes.push_back(fmt::format(
          "{} more were left out: their replicas would not be equally fast and large", unequal_));
    }
    return plan;
  }

  /// Of the whole grid: what no point can be below. The winner's own bound came with its plan.
  void judge(Plan& plan, Seconds iteration) const {
    Seconds bound = std::min(plan.bound, iteration);
    for (std::size_t i = 1; i < entries_.size(); ++i) bound = std::min(bound, entries_[i].bound);
    plan.bound = bound;
    plan.gap = bound > Seconds{0} ? ratio(iteration, bound) - 1 : 0;
    plan.exact = iteration.value() <= bound.value() * (1 + kSame);
  }

  Result<void> add_alternatives(Plan& plan, Seconds iteration) {
    entries_.front().plan = plan;
    entries_.front().iteration = iteration;
    constexpr std::size_t kMost = 10;
    for (const Entry& entry : entries_) {
      if (plan.alternatives.size() == kMost) break;
      const auto prepared = task_.prepare(entry.point);
      if (!prepared) return Failure(prepared.error());
      const auto memory = prepared->peak_memory(entry.plan);
      if (!memory) return Failure(memory.error());
      plan.alternatives.push_back({.schedule = entry.point.schedule,
                                   .parallel = entry.plan.parallel,
                                   .micro_batch_size = entry.plan.micro_batch_size,
                                   .microbatches = entry.plan.microbatches,
                                   .iteration = entry.iteration,
                                   .peak_memory = *memory,
                                   .traffic = traffic_of(entry.plan, entry.point)});
    }
    for (Alternative& one : plan.alternatives) {
      one.pareto = std::ranges::none_of(plan.alternatives, [&](const Alternative& other) {
        const auto values = [](const Alternative& a) {
          return std::tuple(a.iteration, a.peak_memory, a.traffic);
        };
        return other.iteration <= one.iteration && other.peak_memory <= one.peak_memory &&
               other.traffic <= one.traffic && values(other) != values(one);
      });
    }
    return {};
  }

  [[nodiscard]] Error nothing_possible() const {
    if (first_reason_) {
      Error error = *first_reason_;
      error.why = fmt::format("none of {} combinations has a plan; this is said of the first{}{}",
                              points_.size(), error.why.empty() ? "" : ": ", error.why);
      return error;
    }
    if (uneven_ > 0) {
      return {.code = ErrorCode::kUsage,
              .what = fmt::format("a global batch of {} is no multiple of {} replicas x the "
                                  "micro-batch size",
                                  task_.global_batch, *task_.data),
              .where = "--global-batch",
              .fix = "use a multiple, or another --data"};
    }
    return {
        .code = ErrorCode::kInfeasible,
        .what = fmt::format("no combination of replicas, depth and schedule uses {} devices for "
                            "a global batch of {}",
                            task_.cluster.devices.size(), task_.global_batch),
        .where = task_.stages ? "--stages" : "--global-batch",
        .fix =
            "use a global batch that is a multiple of the micro-batch size, or other "
            "--stages"};
  }

  struct Work {
    Seconds total{0};
    Seconds heaviest{0};
  };

  const GridTask& task_;
  std::vector<Work> work_;  ///< By profile, of a micro-batch on the fastest device.
  std::vector<std::pair<Seconds, GridPoint>> points_;  ///< With their quick bound.
  std::vector<Entry> entries_;
  std::optional<Seconds> best_;
  std::optional<Error> first_reason_;
  int pruned_ = 0;
  int impossible_ = 0;
  int unequal_ = 0;
  int uneven_ = 0;
};

}  // namespace

Result<Plan> best_of_grid(const GridTask& task) {
  return Grid(task).run();
}

}  // namespace headrace
