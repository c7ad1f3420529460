#include "planner/makespan_search.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "planner/chain_partition.h"
#include "planner/cut_descent.h"
#include "tests/planner/chain_oracle.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("planner/makespan_search");

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// 1F1B by its recurrence on a fixed order of actions: the longest path, computed device by device
/// until nothing changes. Written for clarity, independent of the simulator.
double one_forward_one_backward(const MakespanProblem& problem, const Borders& borders) {
  const int stages = static_cast<int>(borders.size()) - 1;
  const int count = problem.microbatches;
  std::vector<std::vector<double>> end_forward(at(stages), std::vector<double>(at(count), 0));
  auto end_backward = end_forward;
  const auto hop = [&](int s) {
    const Bytes size(problem.chain.border_bytes[at(borders[at(s) + 1])]);
    return transfer_time(problem.links[at(s)], size).value();
  };
  double last_change = 1;
  while (last_change > 0) {
    last_change = 0;
    for (int s = 0; s < stages; ++s) {
      double forward = 0;
      double backward = 0;
      for (int i = borders[at(s)]; i < borders[at(s) + 1]; ++i) {
        forward += problem.forward[at(i)].value() / problem.chain.stages[at(s)].speed;
        backward += problem.backward[at(i)].value() / problem.chain.stages[at(s)].speed;
      }
      double clock = 0;
      const auto run = [&](double ready, double takes, double& end) {
        clock = std::max(clock, ready) + takes;
        last_change = std::max(last_change, clock - end);
        end = clock;
      };
      const auto run_forward = [&](int m) {
        run(s > 0 ? end_forward[at(s) - 1][at(m)] + hop(s - 1) : 0, forward,
            end_forward[at(s)][at(m)]);
      };
      const auto run_backward = [&](int m) {
        run(s + 1 < stages ? end_backward[at(s) + 1][at(m)] + hop(s) : 0, backward,
            end_backward[at(s)][at(m)]);
      };
      const int warm_up = std::min(stages - 1 - s, count);
      for (int m = 0; m < warm_up; ++m) run_forward(m);
      for (int m = 0; m + warm_up < count; ++m) {
        run_forward(m + warm_up);
        run_backward(m);
      }
      for (int m = count - warm_up; m < count; ++m) run_backward(m);
    }
  }
  double makespan = 0;
  for (const double end : end_backward.front()) makespan = std::max(makespan, end);
  for (const auto& row : end_backward) makespan = std::max(makespan, row.back());
  return makespan;
}

MakespanProblem random_problem(std::mt19937_64& random, const testing::ChainOptions& options) {
  MakespanProblem problem{.chain = testing::random_chain(random, options),
                          .microbatches = 1 + static_cast<int>(random() % 6),
                          .passes = Passes::kWholeBackward};
  for (ChainLayer& layer : problem.chain.layers) {
    problem.forward.emplace_back(static_cast<double>(random() % 8));
    problem.backward.emplace_back(static_cast<double>(random() % 8));
    const Seconds work = problem.forward.back() + problem.backward.back();
    layer.time = static_cast<std::int64_t>(work.value());
  }
  const auto latency = static_cast<double>(random() % 3);
  const auto bandwidth = static_cast<double>(random() % 3) * 4;  // 0: infinitely fast.
  for (std::size_t s = 0; s + 1 < problem.chain.stages.size(); ++s) {
    problem.links.push_back({.latency = Seconds(latency), .bandwidth = BytesPerSecond(bandwidth)});
  }
  return problem;
}

struct Fastest {
  double time = std::numeric_limits<double>::infinity();
  double bound = std::numeric_limits<double>::infinity();
};

Fastest fastest_by_trying_all(const MakespanProblem& problem) {
  Fastest fastest;
  const auto layers = static_cast<int>(problem.chain.layers.size());
  const auto stages = static_cast<int>(problem.chain.stages.size());
  const ChainCosts costs(problem.chain);
  testing::for_each_cut(layers, stages, [&](const Borders& borders) {
    for (int s = 0; s < stages; ++s) {
      if (!costs.fits(s, borders[at(s)], borders[at(s) + 1], {})) return;
    }
    fastest.time = std::min(fastest.time, one_forward_one_backward(problem, borders));
    fastest.bound = std::min(fastest.bound, CutBound(problem).of(borders).value());
  });
  return fastest;
}

/// The search against full enumeration; returns the number of problems that had a cut.
int agree_with_trying_all(const testing::ChainOptions& options, Passes passes, int cases) {
  std::mt19937_64 random(41);
  int solved = 0;
  for (int i = 0; i < cases; ++i) {
    MakespanProblem problem = random_problem(random, options);
    problem.passes = passes;
    const auto start = partition_chain(problem.chain);
    if (!start) continue;
    ++solved;
    const auto found =
        fastest_cut(problem, {{start->borders}}, 100000, [&](const Borders& borders) {
          return Result<CutScore>(
              CutScore{.iteration = Seconds(one_forward_one_backward(problem, borders))});
        });
    CAPTURE(i);
    REQUIRE(found.has_value());
    const Fastest expected = fastest_by_trying_all(problem);
    REQUIRE(found->iteration.value() == doctest::Approx(expected.time).epsilon(1e-12));
    REQUIRE(found->exact);
    REQUIRE(found->bound == found->iteration);
  }
  return solved;
}

TEST_CASE("the search equals trying every cut with the bound for whole backward") {
  CHECK(agree_with_trying_all({}, Passes::kWholeBackward, 1000) == 1000);
}

TEST_CASE("the search equals trying every cut with the bound for split backward") {
  CHECK(agree_with_trying_all({}, Passes::kSplitBackward, 1000) == 1000);
}

TEST_CASE("the search keeps memory limits that are not monotone") {
  CHECK(agree_with_trying_all({.memory = true, .wide_borders = true}, Passes::kWholeBackward,
                              1000) > 100);
}

TEST_CASE("the search equals trying every cut on devices of different speed") {
  CHECK(agree_with_trying_all({.memory = true, .any_in_flight = true, .speeds = true},
                              Passes::kWholeBackward, 1000) > 100);
}

TEST_CASE("no cut is faster than its bound") {
  std::mt19937_64 random(5);
  int tight = 0;
  for (int i = 0; i < 1000; ++i) {
    const MakespanProblem problem = random_problem(random, {.speeds = true});
    const auto stages = static_cast<int>(problem.chain.stages.size());
    testing::for_each_cut(static_cast<int>(problem.chain.layers.size()), stages,
                          [&](const Borders& borders) {
                            const double time = one_forward_one_backward(problem, borders);
                            const double bound = CutBound(problem).of(borders).value();
                            REQUIRE(bound <= time * (1 + 1e-12));
                            if (bound >= time * (1 - 1e-12)) ++tight;
                          });
  }
  CHECK(tight > 1000);
}

TEST_CASE("a search that may score little says what bound it reached") {
  std::mt19937_64 random(6);
  int stopped = 0;
  for (int i = 0; i < 500; ++i) {
    const MakespanProblem problem = random_problem(random, {});
    const auto start = partition_chain(problem.chain);
    const auto found = fastest_cut(problem, {{start->borders}}, 2, [&](const Borders& borders) {
      return Result<CutScore>(
          CutScore{.iteration = Seconds(one_forward_one_backward(problem, borders))});
    });
    REQUIRE(found.has_value());
    const Fastest expected = fastest_by_trying_all(problem);
    REQUIRE(found->scored <= 2);
    REQUIRE(found->bound.value() <= expected.time * (1 + 1e-12));
    REQUIRE(found->bound.value() >= std::min(expected.bound, expected.time) * (1 - 1e-12));
    if (!found->exact) ++stopped;
  }
  CHECK(stopped > 20);
}

TEST_CASE("descent ends where no single border can move and stays within memory") {
  std::mt19937_64 random(9);
  int improved = 0;
  for (int i = 0; i < 500; ++i) {
    const MakespanProblem problem = random_problem(random, {.memory = true, .ties = true});
    const auto start = partition_chain(problem.chain);
    if (!start) continue;
    const ChainCosts costs(problem.chain);
    const CutBound bound(problem);
    const CutScorer scorer = [&](const Borders& borders) {
      return Result<CutScore>(
          CutScore{.iteration = Seconds(one_forward_one_backward(problem, borders))});
    };
    CutRecord record(costs, scorer);
    REQUIRE(record.offer(start->borders).has_value());
    const Seconds before = record.iteration();
    REQUIRE(descend(bound, costs, record, 100000).has_value());
    REQUIRE(record.iteration() <= before);
    if (record.iteration() < before) ++improved;
    for (int s = 0; s < costs.stages(); ++s) {
      REQUIRE(costs.fits(s, record.borders()[at(s)], record.borders()[at(s) + 1], {}));
    }
    for (std::size_t b = 1; b + 1 < record.borders().size(); ++b) {
      for (const int step : {-1, 1}) {
        Borders moved = record.borders();
        moved[b] += step;
        if (moved[b] <= moved[b - 1] || moved[b] >= moved[b + 1]) continue;
        const auto s = static_cast<int>(b);
        if (!costs.fits(s - 1, moved[b - 1], moved[b], {}) ||
            !costs.fits(s, moved[b], moved[b + 1], {})) {
          continue;
        }
        REQUIRE(one_forward_one_backward(problem, moved) >=
                record.iteration().value() * (1 - 1e-12));
      }
    }
  }
  CHECK(improved > 20);
}

TEST_CASE("an error of the scorer ends the search") {
  std::mt19937_64 random(8);
  const MakespanProblem problem = random_problem(random, {});
  const auto start = partition_chain(problem.chain);
  const auto found = fastest_cut(problem, {{start->borders}}, 10, [](const Borders&) {
    return Result<CutScore>(Failure({.code = ErrorCode::kDeadlock,
                                     .what = "it waits for itself",
                                     .where = "schedule",
                                     .fix = "use another"}));
  });
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().code == ErrorCode::kDeadlock);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
