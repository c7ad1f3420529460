// Two replicas of the model in opposite directions: DualPipe and Chimera against the peers.
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/schedule_csv.h"
#include "simulator/schedule_catalogue.h"
#include "simulator/simulate.h"

namespace headrace {
namespace {

using nlohmann::json;

template <typename Check>
void for_each_entry(const std::string& file, Check check) {
  std::ifstream lines(std::string(HEADRACE_SOURCE_DIR) + "/tests/data/schedules/peers/" + file);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const json header = json::parse(line);
  while (std::getline(lines, line)) check(header, json::parse(line));
}

/// The peers number the micro-batches of each direction from 0; ours go on counting.
std::string peer_csv(const Schedule& ours) {
  Schedule renumbered = ours;
  for (auto& row : renumbered.rows) {
    for (Action& action : row) {
      const int first = microbatches_of(ours, number_of(action.stage)).first;
      action.microbatch = MicrobatchId{number_of(action.microbatch) - first};
    }
  }
  return to_csv(renumbered);
}

Schedule made(const std::string& name, const json& entry) {
  const int p = entry["p"].get<int>();
  return make_schedule({.name = name,
                        .devices = p,
                        .stages = name == "dualpipev" ? 2 * p : p,
                        .microbatches = entry["m"].get<int>()})
      .value();
}

SimulationInput uniform(const Schedule& schedule, double forward, double input_grad,
                        double weight_grad, double hop) {
  const StageCost cost{.forward = Seconds(forward),
                       .backward = Seconds(input_grad + weight_grad),
                       .input_grad = Seconds(input_grad),
                       .weight_grad = Seconds(weight_grad)};
  const auto stages = static_cast<std::size_t>(schedule.stages);
  return {.schedule = schedule,
          .stages = std::vector<StageCost>(stages, cost),
          .hop_forward = std::vector<Seconds>(stages, Seconds(hop)),
          .hop_backward = std::vector<Seconds>(stages, Seconds(hop))};
}

Seconds cost_at(const json& cost, std::size_t rank) {
  return Seconds((cost.is_array() ? cost[rank] : cost).get<double>());
}

SimulationInput with_costs(const Schedule& schedule, const json& costs) {
  SimulationInput input = uniform(schedule, 0, 0, 0, costs["c"].get<double>());
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    const std::size_t rank = index_of(schedule.device_of_stage[s]);
    const Seconds input_grad = cost_at(costs["I"], rank);
    const Seconds weight_grad = cost_at(costs["W"], rank);
    input.stages[s] = {.forward = cost_at(costs["F"], rank),
                       .backward = input_grad + weight_grad,
                       .input_grad = input_grad,
                       .weight_grad = weight_grad};
  }
  return input;
}

void check_times(const json& header, const json& entry, const Schedule& schedule) {
  for (const auto& [name, expected] : entry["results"].items()) {
    const json& costs = name == "nu8" ? header["nu8"] : header["costs"][name];
    const auto outcome = simulate(with_costs(schedule, costs));
    REQUIRE(outcome.has_value());
    CHECK(outcome->report.makespan.value() ==
          doctest::Approx(expected["makespan"].get<double>()).epsilon(1e-6));
    CHECK(outcome->report.span.value() ==
          doctest::Approx(expected["max_span"].get<double>()).epsilon(1e-6));
    for (std::size_t rank = 0; rank < outcome->report.per_device.size(); ++rank) {
      CHECK(outcome->report.per_device[rank].peak_activations ==
            entry["peak_act_per_rank"][rank].get<double>());
    }
  }
}

TEST_SUITE_BEGIN("simulator/two_way");

TEST_CASE("two-way schedules are those of the peers in order and time and memory") {
  const std::map<std::string, std::string> names = {
      {"DualPipe", "dualpipe"}, {"dualpipe", "dualpipe"}, {"Chimera", "chimera"}};
  int entries = 0;
  for (const char* file : {"dualpipe.jsonl", "ppvis.jsonl", "chimera.jsonl"}) {
    for_each_entry(file, [&](const json& header, const json& entry) {
      if (entry["style"] != "bidir") return;
      const Schedule schedule = made(names.at(entry["schedule"]), entry);
      std::string rows;
      for (const json& row : entry["rows"]) rows += row.get<std::string>() + "\n";
      CHECK_MESSAGE(peer_csv(schedule) == rows, entry["file"].get<std::string>());
      check_times(header, entry, schedule);
      ++entries;
    });
  }
  CHECK(entries == 27);
}

TEST_CASE("fused pairs take the time that DualPipe's own evaluation gives them") {
  int results = 0;
  for_each_entry("dualpipe.jsonl", [&](const json&, const json& entry) {
    if (!entry.contains("fused")) return;
    const std::string name = entry["schedule"] == "DualPipe" ? "dualpipe" : "dualpipev";
    SimulationInput input = uniform(made(name, entry), 1, 1, 1, 0);
    for (const auto& [costs, expected] : entry["fused"].items()) {
      input.overlap_share = std::stod(costs.substr(costs.rfind("FB") + 2)) / 3;
      CHECK(simulated_iteration(input).value().value() ==
            doctest::Approx(expected["makespan"].get<double>()));
      ++results;
    }
  });
  CHECK(results >= 30);
}

TEST_CASE("fused pairs take the time that the visualiser of schedules gives them") {
  int results = 0;
  for_each_entry("ppvis.jsonl", [&](const json&, const json& entry) {
    if (!entry["peer_results"].contains("bigB_FB0.8") || entry["style"] == "bidir") return;
    std::string rows;
    for (const json& row : entry["rows"]) rows += row.get<std::string>() + "\n";
    const auto schedule = schedule_from_csv(rows, "peer");
    SimulationInput input = uniform(*schedule, 1, 1.5, 1, 0);
    input.overlap_share = 0.8;
    CHECK_MESSAGE(
        simulated_iteration(input).value().value() ==
            doctest::Approx(entry["peer_results"]["bigB_FB0.8"]["makespan"].get<double>()),
        entry["file"].get<std::string>());
    ++results;
  });
  CHECK(results >= 20);
}

TEST_CASE("DualPipe has the bubble of its closed form for equal F and I and W") {
  // (P / 2 - 1)(F&B + B - 3 W)
  for (const int p : {2, 4, 8, 16}) {
    SimulationInput input = uniform(
        make_schedule({.name = "dualpipe", .devices = p, .stages = p, .microbatches = 4 * p})
            .value(),
        2, 2, 2, 0);
    input.overlap_share = 1;
    const double work = 4.0 * p * 6;
    CHECK(simulated_iteration(input).value().value() ==
          doctest::Approx(work + (p / 2.0 - 1) * (6 + 4 - 6)));
  }
}

TEST_CASE("a CSV file of two replicas is recognised by its micro-batches") {
  for (const char* name : {"dualpipe", "chimera"}) {
    const auto schedule =
        make_schedule({.name = name, .devices = 4, .stages = 4, .microbatches = 8});
    const auto read = schedule_from_csv(to_csv(*schedule), "file");
    REQUIRE(read.has_value());
    CHECK(read->pipelines == 2);
    CHECK(read->rows == schedule->rows);
    CHECK(read->device_of_stage == schedule->device_of_stage);
  }
}

TEST_CASE("what the two-way schedules are not defined for is refused with the smallest change") {
  const auto fix = [](const std::string& name, int p, int m) {
    return make_schedule({.name = name, .devices = p, .stages = p, .microbatches = m}).error().fix;
  };
  CHECK(fix("dualpipe", 3, 8) == "use --stages 4");
  CHECK(fix("dualpipe", 4, 6) == "use --micro-batches 8, or --schedule chimera");
  CHECK(fix("dualpipe", 4, 9) == "use --micro-batches 10");
  CHECK(fix("chimera", 5, 8) == "use --stages 6");
}

TEST_CASE("Chimera runs any number of micro-batches from either end") {
  for (const int p : {2, 4, 6, 8}) {
    for (int m = 1; m <= 20; ++m) {
      const auto schedule =
          make_schedule({.name = "chimera", .devices = p, .stages = p, .microbatches = m});
      REQUIRE(validate(*schedule).has_value());
      CHECK(simulated_iteration(uniform(*schedule, 1, 1, 1, 0.1)).has_value());
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
