#include <string>

#include <doctest/doctest.h>

#include "tests/core/json/documents.h"
#include "tests/support/random_nouns.h"

namespace headrace {
namespace {

using testing::changed;
using testing::complaint;
using testing::kClusterText;
using testing::kProfileText;
using testing::kTimelineText;

std::string profile_complaint(std::string_view from, std::string_view to) {
  return complaint(profile_from_json(changed(kProfileText, from, to), "p.json"));
}

std::string cluster_complaint(std::string_view from, std::string_view to) {
  return complaint(cluster_from_json(changed(kClusterText, from, to), "c.json"));
}

std::string timeline_complaint(std::string_view from, std::string_view to) {
  return complaint(timeline_from_json(changed(kTimelineText, from, to), "t.json"));
}

TEST_SUITE_BEGIN("core/json/profile_json");

TEST_CASE("what a profile leaves out has its default") {
  const auto profile = profile_from_json(kProfileText, "p.json");
  REQUIRE(profile.has_value());
  CHECK(profile->sequence_length == 0);
  CHECK(profile->device.count == 1);
  const Layer& first = profile->graph.layer(LayerId{0});
  CHECK(first.forward == Duration{.mean = Seconds(1)});
  CHECK(first.workspace == Bytes(0));
  CHECK(first.origin == Origin::kAssumed);
  CHECK_FALSE(first.input_grad.has_value());
  CHECK(profile->graph.edges()[0] == LayerEdge{LayerId{0}, LayerId{1}, Bytes(4)});
}

TEST_CASE("an edge to no layer is refused with the nearest id") {
  CHECK(profile_complaint("\"to\": \"second\"", "\"to\": \"secand\"") ==
        "p.json: /edges/0/to: 'secand' is no layer of this profile (did you mean 'second'?)\n"
        "  fix: use the id of a listed layer");
  CHECK(profile_complaint("\"from\": \"first\"", "\"from\": \"\"")
            .starts_with("p.json: /edges/0/from: '' is no layer of this profile\n"));
}

TEST_CASE("problems of the graph carry file and pointer") {
  CHECK(profile_complaint("\"id\": \"second\"", "\"id\": \"first\"") ==
        "p.json: /edges/0/to: 'second' is no layer of this profile\n"
        "  fix: use the id of a listed layer");
  CHECK(profile_complaint("\"to\": \"second\"", "\"to\": \"first\"")
            .starts_with("p.json: /edges/0: edge of 'first' to itself\n"));
  CHECK(profile_complaint("\"bytes\": 4}",
                          "\"bytes\": 4}, {\"from\": \"second\", \"to\": \"first\", \"bytes\": 1}")
            .starts_with("p.json: /edges: cycle first -> second -> first\n"));
  CHECK(complaint(profile_from_json(
            changed(changed(kProfileText, "\"id\": \"second\"", "\"id\": \"first\""),
                    "{\"from\": \"first\", \"to\": \"second\", \"bytes\": 4}", ""),
            "p.json")) ==
        "p.json: /layers/1/id: layer id 'first' is used twice (also /layers/0)\n"
        "  fix: give every layer an id of its own");
}

TEST_CASE("a profile without layers is refused") {
  const std::string text = R"({"schema": "headrace/profile/1", "model": {"name": "none"},
    "device": {"kind": "cpu"}, "dtype": "fp32", "micro_batch_size": 1, "layers": [], "edges": []})";
  CHECK(complaint(profile_from_json(text, "p.json")) ==
        "p.json: /layers: a profile without layers\n  fix: list at least one layer");
}

TEST_CASE("same_as and origins must name what exists") {
  CHECK(profile_complaint("\"id\": \"second\"", "\"id\": \"second\", \"same_as\": \"firs\"")
            .starts_with("p.json: /layers/1/same_as: 'firs' is no layer of this profile "
                         "(did you mean 'first'?)\n"));
  CHECK(profile_complaint("\"id\": \"second\"",
                          "\"id\": \"second\", \"origins\": {\"ouput_bytes\": \"catalogue\"}") ==
        "p.json: /layers/1/origins/ouput_bytes: 'ouput_bytes' is no number of a layer "
        "(did you mean 'output_bytes'?)\n"
        "  fix: name a key of the layer, such as \"forward\"");
}

TEST_CASE("variants are not known yet") {
  CHECK(profile_complaint("\"edges\"", "\"variants\": [], \"edges\"")
            .starts_with("p.json: /variants: unknown key 'variants'\n"));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/cluster_json");

TEST_CASE("a default link is required where two devices rely on it") {
  CHECK(cluster_complaint("\"id\": \"gpu1\"", "\"id\": \"gpu1\", \"node\": \"other\"") ==
        "c.json: /default_links: key 'inter_node' is missing\n  fix: add \"inter_node\" here");
  CHECK(cluster_complaint(", {\"id\": \"gpu1\"}", "") == "accepted");
  const std::string all_linked = R"([{"from": "gpu1", "to": "gpu0", "latency_s": 0,
    "bandwidth_bytes_per_s": 1e9, "duplex": "half"}])";
  CHECK(complaint(cluster_from_json(
            changed(changed(kClusterText, "[]", all_linked), "\"intra_node\"", "\"inter_node\""),
            "c")) == "accepted");
}

TEST_CASE("what validate refuses carries file and pointer") {
  CHECK(cluster_complaint("\"gpu1\"", "\"gpu0\"") ==
        "c.json: /devices/1/id: device 'gpu0' is listed twice\n"
        "  fix: give every device an id of its own");
}

TEST_CASE("names from the document cannot steer the terminal") {
  const std::string twice = changed(kClusterText, "\"gpu0\"", "\"\\u001b[2J\\n\"");
  CHECK(complaint(cluster_from_json(changed(twice, "\"gpu1\"", "\"\\u001b[2J\\n\""), "c.json"))
            .starts_with("c.json: /devices/1/id: device '\\u001b[2J\\n' is listed twice\n"));
}

TEST_CASE("speeds and bandwidths have a range") {
  CHECK(cluster_complaint("\"id\": \"gpu1\"", "\"id\": \"gpu1\", \"speed\": 0") ==
        "c.json: /devices/1/speed: expected a number from 1e-06 to 1000000, found 0\n"
        "  fix: write it like 1");
  CHECK(cluster_complaint("25e9", "1e-300") ==
        "c.json: /default_links/intra_node/bandwidth_bytes_per_s: expected bytes per second: at "
        "least 1, or 0 for a link that costs only latency, found 1e-300\n"
        "  fix: write it like 25e9");
  CHECK(cluster_complaint("25e9", "0") == "accepted");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/timeline_json");

TEST_CASE("counts that are left out follow from the events") {
  const auto timeline = timeline_from_json(kTimelineText, "t.json");
  REQUIRE(timeline.has_value());
  CHECK(timeline->stages == 2);
  CHECK(timeline->microbatches == 4);
}

TEST_CASE("events are put in order of device and start") {
  const auto timeline =
      timeline_from_json(changed(changed(kTimelineText, "\"device\": 0", "\"device\": 1"),
                                 "\"start_s\": 1", "\"start_s\": 0.5"),
                         "t.json");
  REQUIRE(timeline.has_value());
  CHECK(timeline->events[0].start == Seconds(0));
  const auto swapped = timeline_from_json(
      changed(kTimelineText, "\"device\": 1", "\"device\": 0, \"overlaps_next\": true"), "t.json");
  REQUIRE(swapped.has_value());
  CHECK(swapped->events[1].action.overlaps_next);
}

TEST_CASE("an event outside the counts or time is refused") {
  CHECK(timeline_complaint("\"device\": 1", "\"device\": 2") ==
        "t.json: /events/1/device: device 2, there are 2\n  fix: number them from 0 to 1");
  CHECK(timeline_complaint("\"devices\": 2", "\"devices\": 2, \"stages\": 1") ==
        "t.json: /events/1/action: stage 1, there are 1\n  fix: number them from 0 to 0");
  CHECK(timeline_complaint("\"devices\": 2", "\"devices\": 2, \"micro_batches\": 3") ==
        "t.json: /events/1/action: micro-batch 3, there are 3\n  fix: number them from 0 to 2");
  CHECK(timeline_complaint("\"end_s\": 2", "\"end_s\": 0.5") ==
        "t.json: /events/1/end_s: 1F3 ends at 0.5 s, before it starts at 1 s\n"
        "  fix: an event ends when it starts or later");
  CHECK(timeline_complaint("\"devices\": 2", R"("devices": 2, "memory": [{"device": 5,
    "time_s": 0, "bytes": 1}])") ==
        "t.json: /memory/0/device: device 5, there are 2\n  fix: number them from 0 to 1");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/simulation_json");

TEST_CASE("devices are listed whole and in order") {
  Simulation simulation = testing::NounMaker(1, true).simulation();
  simulation.devices = 2;
  simulation.per_device.resize(2);
  const std::string text = to_json(simulation);
  CHECK(complaint(simulation_from_json(changed(text, "\"device\": 1", "\"device\": 0"), "s")) ==
        "s: /per_device/1/device: expected 1, which follows from the rest, found 0\n"
        "  fix: write it like 1");
  CHECK(complaint(simulation_from_json(changed(text, "\"devices\": 2", "\"devices\": 3"), "s")) ==
        "s: /per_device: 2 devices are listed, there are 3\n"
        "  fix: list every device, or none");
}

TEST_CASE("the critical path stays within the stages") {
  Simulation simulation = testing::NounMaker(1, true).simulation();
  simulation.stages = 2;
  simulation.critical_path = {{.stage = StageId{2}}};
  CHECK(complaint(simulation_from_json(to_json(simulation), "s")) ==
        "s: critical_path has 2F0, there are 2 stages\n  fix: use stages 0 to S - 1");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/model_json");

TEST_CASE("settings of a model keep their types") {
  const auto model = model_from_json(R"({"schema": "headrace/model/1", "family": "gpt2",
    "layers": 4, "dropout": 0.0, "tied": true, "activation": "gelu"})",
                                     "m.json");
  REQUIRE(model.has_value());
  CHECK(model->family == "gpt2");
  CHECK(model->values == std::map<std::string, SpecValue>{{"layers", std::int64_t{4}},
                                                          {"dropout", 0.0},
                                                          {"tied", true},
                                                          {"activation", std::string("gelu")}});
}

TEST_CASE("a setting that is a list is refused in our own model and left out of a foreign one") {
  CHECK(complaint(model_from_json(
            R"({"schema": "headrace/model/1", "family": "mlp", "widths": [1, 2]})", "m.json")) ==
        "m.json: /widths: expected a setting: number, text, true or false, found a list\n"
        "  fix: write it like 512");
  const auto config = foreign_config_from_json(
      R"({"architectures": ["GPT2"], "n_layer": 2, "rope": {"type": "yarn", "by": {"k": 1e3}},
          "pad": null})",
      "config.json");
  REQUIRE(config.has_value());
  CHECK(config->values == std::map<std::string, SpecValue>{{"n_layer", std::int64_t{2}},
                                                           {"rope.type", std::string("yarn")},
                                                           {"rope.by.k", 1000.0}});
}

TEST_CASE("a foreign configuration that is no object or is ambiguous is refused") {
  CHECK(complaint(foreign_config_from_json("[]", "c.json")) ==
        "c.json: expected an object, found a list\n"
        "  fix: write it like {\"model_type\": \"gpt2\"}");
  CHECK(complaint(foreign_config_from_json(R"({"a": {"b": 1}, "a.b": 2})", "c.json")) ==
        "c.json: /a.b: setting 'a.b' is given twice\n  fix: keep one of the two");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/json/error_json");

TEST_CASE("the exit status of an error follows from its code") {
  const std::string text =
      to_json(Error{.code = ErrorCode::kTimeout, .what = "w", .where = "here", .fix = "f"});
  CHECK(complaint(error_from_json(changed(text, "\"exit\": 6", "\"exit\": 7"), "e")) ==
        "e: /error/exit: expected 6, which follows from the rest, found 7\n"
        "  fix: write it like 6");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
