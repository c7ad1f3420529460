// Measured models of two other projects against optima found by an independent program.
#include <algorithm>
#include <map>
#include <sstream>

#include <doctest/doctest.h>

#include "core/files.h"
#include "interop/importers.h"
#include "planner/chain_partition.h"
#include "planner/chain_problem.h"
#include "planner/paired_partition.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("acceptance/chain_optima");

struct Optimum {
  std::string file;
  int stages = 0;
  std::int64_t bottleneck = 0;
  std::int64_t lower_bound = 0;
  std::int64_t border_bytes = 0;
  Borders cuts;  // Inner borders.
};

std::string read_data(const std::string& path) {
  const auto text = read_text(HEADRACE_SOURCE_DIR "/" + path);
  REQUIRE(text.has_value());
  return *text;
}

std::vector<Optimum> known_optima() {
  std::istringstream lines(read_data("tests/data/planner/chain_optima.txt"));
  std::vector<Optimum> optima;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() == '#') continue;
    std::istringstream fields(line);
    Optimum known;
    std::string cuts;
    fields >> known.file >> known.stages >> known.bottleneck >> known.lower_bound >>
        known.border_bytes >> cuts;
    std::istringstream numbers(cuts);
    for (std::string cut; std::getline(numbers, cut, ',');) known.cuts.push_back(std::stoi(cut));
    optima.push_back(std::move(known));
  }
  return optima;
}

ChainProblem problem_of(const Profile& profile, int stages) {
  const Cluster cluster = uniform_cluster(stages, std::nullopt, {});
  PlanRequest request{.stages = stages};
  request.in_flight.assign(static_cast<std::size_t>(stages), 1);
  const auto problem = chain_problem(profile, cluster, request);
  REQUIRE(problem.has_value());
  return *problem;
}

TEST_CASE("every published profile is cut at its known optimum") {
  std::map<std::string, Profile> profiles;
  const auto optima = known_optima();
  CHECK(optima.size() == 87);
  for (const Optimum& known : optima) {
    CAPTURE(known.file);
    CAPTURE(known.stages);
    if (!profiles.contains(known.file)) {
      const auto profile = import_profile("dapple", read_data(known.file), known.file);
      REQUIRE(profile.has_value());
      profiles[known.file] = *profile;
    }
    const ChainProblem problem = problem_of(profiles[known.file], known.stages);
    const auto cut = partition_chain(problem);
    REQUIRE(cut.has_value());
    CHECK(cut->bottleneck == known.bottleneck);
    CHECK(cut->border_bytes == known.border_bytes);
    CHECK(Borders(cut->borders.begin() + 1, cut->borders.end() - 1) == known.cuts);
  }
}

TEST_CASE("two stages per device: every published profile is cut at its known optimum") {
  std::istringstream lines(read_data("tests/data/planner/paired_optima.txt"));
  int known = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() == '#') continue;
    std::istringstream fields(line);
    std::string file;
    int devices = 0;
    std::int64_t busiest = 0;
    fields >> file >> devices >> busiest;
    CAPTURE(file);
    CAPTURE(devices);
    const auto profile = import_profile("dapple", read_data(file), file);
    REQUIRE(profile.has_value());
    std::vector<std::int64_t> weights;
    for (const ChainLayer& layer : problem_of(*profile, 1).layers) weights.push_back(layer.time);
    const PairedPartition cut = partition_pairs(weights, devices, PairPlacement::kLoop);
    CHECK(cut.exact);
    CHECK(cut.busiest == busiest);
    CHECK(busiest_pair(weights, cut.borders, PairPlacement::kLoop) == busiest);
    ++known;
  }
  CHECK(known == 42);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
