// Makespans that can be written down, and schedules and times that peers' own programs produced.
#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/schedule_csv.h"
#include "simulator/simulate.h"
#include "tests/support/simulation_builders.h"

namespace headrace {
namespace {

using nlohmann::json;
using testing::uniform_input;

double makespan(const std::string& name, int p, int m, const testing::UniformCosts& costs) {
  return simulate(uniform_input(name, p, m, costs)).value().report.makespan.value();
}

/// Calls `check(costs, schedule)` for every schedule of one peer's file.
template <typename Check>
void for_each_peer_schedule(const std::string& file, Check check) {
  std::ifstream lines(std::string(HEADRACE_SOURCE_DIR) + "/tests/data/schedules/peers/" + file);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const json header = json::parse(line);
  while (std::getline(lines, line)) check(header, json::parse(line));
}

std::string csv_of(const json& entry) {
  std::string text;
  for (const json& row : entry["rows"]) text += row.get<std::string>() + "\n";
  return text;
}

/// Per stage: one number for all, or one per rank.
Seconds cost_at(const json& cost, std::size_t rank) {
  return Seconds((cost.is_array() ? cost[rank] : cost).get<double>());
}

SimulationInput peer_input(const Schedule& schedule, const json& costs) {
  SimulationInput input{.schedule = schedule};
  for (const DeviceId device : schedule.device_of_stage) {
    const std::size_t rank = index_of(device);
    const Seconds input_grad = cost_at(costs["I"], rank);
    const Seconds weight_grad = cost_at(costs["W"], rank);
    input.stages.push_back({.forward = cost_at(costs["F"], rank),
                            .backward = input_grad + weight_grad,
                            .input_grad = input_grad,
                            .weight_grad = weight_grad});
  }
  input.hop_forward.assign(input.stages.size(), Seconds(costs["c"].get<double>()));
  input.hop_backward = input.hop_forward;
  return input;
}

void check_peer_times(const json& header, const json& entry, const Schedule& schedule) {
  for (const auto& [name, expected] : entry["results"].items()) {
    const json& costs = name == "nu8" ? header["nu8"] : header["costs"][name];
    const auto outcome = simulate(peer_input(schedule, costs));
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

TEST_SUITE_BEGIN("simulator/closed_forms");

TEST_CASE("gpipe takes m plus p minus 1 times S plus 2 hops per border") {
  for (const int p : {1, 2, 3, 5, 8}) {
    for (const int m : {1, 2, 7, 32}) {
      CHECK(makespan("gpipe", p, m, {.forward = 2, .backward = 3, .hop = 0.125}) ==
            doctest::Approx((m + p - 1) * 5 + 2 * (p - 1) * 0.125));
    }
  }
}

TEST_CASE("1f1b takes as long as gpipe without hops") {
  for (const int p : {1, 2, 3, 5, 8}) {
    for (const int m : {1, 2, 7, 32}) {
      CHECK(makespan("1f1b", p, m, {.forward = 2, .backward = 3}) ==
            doctest::Approx((m + p - 1) * 5));
    }
  }
}

TEST_CASE("1f1b pays hops in its steady state when p divides m") {
  // (m + p - 1) S + [2 (p - 1) m / p + 2 p - 4] c
  for (const int p : {2, 4, 8}) {
    for (const int m : {8, 16, 32}) {
      const double hops = 2.0 * (p - 1) * m / p + 2 * p - 4;
      CHECK(makespan("1f1b", p, m, {.forward = 2, .backward = 3, .hop = 0.125}) ==
            doctest::Approx((m + p - 1) * 5 + hops * 0.125));
    }
  }
}

TEST_CASE("times and peak activations of every peer schedule with one replica are reproduced") {
  int schedules = 0;
  for (const char* file : {"alpa.jsonl", "deepspeed.jsonl", "dualpipe.jsonl", "megatron.jsonl",
                           "ppvis.jsonl", "torch.jsonl", "torchgpipe.jsonl", "zero-bubble.jsonl"}) {
    for_each_peer_schedule(file, [&](const json& header, const json& entry) {
      if (entry["style"] == "bidir") return;
      const auto schedule = schedule_from_csv(csv_of(entry), entry["file"].get<std::string>());
      REQUIRE_MESSAGE(schedule.has_value(), entry["file"].get<std::string>());
      check_peer_times(header, entry, *schedule);
      ++schedules;
    });
  }
  CHECK(schedules == 1001);
}

/// Our name of a peer's schedule; empty where we make no such schedule.
std::string our_name(const std::string& file, const json& entry) {
  static const std::map<std::string, std::string> names = {
      {"1F1B", "1f1b"},
      {"1f1b", "1f1b"},
      {"TrainSchedule", "1f1b"},
      {"GPipe", "gpipe"},
      {"gpipe", "gpipe"},
      {"1f1b_overlap_friendly", "eager-1f1b"},
      {"interleaved1F1B", "interleaved"},
      {"Interleaved1F1B", "interleaved"},
      {"vpp_interleaved1F1B", "interleaved"},
      {"interleave", "interleaved"},
      {"LoopedBFS", "looped-bfs"},
      {"InterleavedZeroBubble", "interleaved-zb"},
      {"zb1p", "zb-h1"},
      {"ZBVZeroBubble", "zbv"},
      {"zbv_handcrafted", "zbv"},
      {"group_interleaved1f1b", "group-interleaved"},
      {"seq1f1b_k2", "seq1f1b"},
      {"seq1f1b_k4", "seq1f1b"},
      {"1f1b_overlap", "1f1b-overlap"},
      {"1f1b_interleave_overlap", "1f1b-overlap"},
      {"interleaved1F1B_moe_overlap", "1f1b-overlap"},
      {"DualPipeV", "dualpipev"},
      {"dualpipe_v", "dualpipev"}};
  if (file == "torchgpipe.jsonl") return "gpipe-lifo";
  const auto found = names.find(entry["schedule"].get<std::string>());
  return found == names.end() ? "" : found->second;
}

/// Megatron names the group; PyTorch splits the micro-batches into max(1, M / P) equal rounds.
std::map<std::string, std::string> our_parameters(const std::string& file, const json& entry) {
  const std::string megatron_key = "microbatch_group_size_per_vp_stage";
  if (entry["params"].contains(megatron_key)) {
    return {{"group", std::to_string(entry["params"][megatron_key].get<int>())}};
  }
  if (entry["params"].contains("group_size")) {
    return {{"group", std::to_string(entry["params"]["group_size"].get<int>())}};
  }
  if (entry["params"].contains("seq_splits")) {
    return {{"pieces", std::to_string(entry["params"]["seq_splits"].get<int>())}};
  }
  if (file != "torch.jsonl" || entry["schedule"] != "Interleaved1F1B") return {};
  const int m = entry["m"].get<int>();
  return {{"group", std::to_string(m / std::max(1, m / entry["p"].get<int>()))}};
}

/// Megatron-LM's own listing names the two actions of a pair one after the other.
Schedule without_overlaps(Schedule schedule) {
  for (auto& row : schedule.rows) {
    for (Action& action : row) action.overlaps_next = false;
  }
  return schedule;
}

TEST_CASE("generated schedules are action for action those of the peers") {
  std::map<std::string, int> equal;
  for (const std::string file :
       {"alpa.jsonl", "deepspeed.jsonl", "dualpipe.jsonl", "megatron.jsonl", "ppvis.jsonl",
        "torch.jsonl", "torchgpipe.jsonl", "zero-bubble.jsonl"}) {
    for_each_peer_schedule(file, [&](const json&, const json& entry) {
      const std::string name = our_name(file, entry);
      if (name.empty()) return;
      const int p = entry["p"].get<int>();
      const auto made = make_schedule({.name = name,
                                       .parameters = our_parameters(file, entry),
                                       .devices = p,
                                       .stages = p * entry["v"].get<int>(),
                                       .microbatches = entry["m"].get<int>()});
      REQUIRE_MESSAGE(made.has_value(), entry["file"].get<std::string>());
      const bool apart = entry["schedule"] == "interleaved1F1B_moe_overlap";
      CHECK_MESSAGE(to_csv(apart ? without_overlaps(*made) : *made) == csv_of(entry),
                    entry["file"].get<std::string>());
      ++equal[name];
    });
  }
  CHECK(equal == std::map<std::string, int>{{"1f1b", 68},
                                            {"gpipe", 20},
                                            {"gpipe-lifo", 11},
                                            {"eager-1f1b", 9},
                                            {"interleaved", 246},
                                            {"group-interleaved", 47},
                                            {"seq1f1b", 21},
                                            {"1f1b-overlap", 79},
                                            {"looped-bfs", 35},
                                            {"interleaved-zb", 25},
                                            {"zb-h1", 10},
                                            {"zbv", 17},
                                            {"dualpipev", 24}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
