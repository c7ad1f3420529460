#include "interop/pipedream.h"

#include <doctest/doctest.h>

#include "core/files.h"
#include "interop/importers.h"

namespace headrace {
namespace {

TEST_SUITE_BEGIN("interop/pipedream");

constexpr const char* kSmall =
    "node2 -- Conv2d(3, 64, bias=True) -- forward_compute_time=3.500, "
    "backward_compute_time=6.250, activation_size=[4000.0; 96.000], parameter_size=1024.000\n"
    "node10 -- ReLU(inplace) -- forward_compute_time=1, backward_compute_time=2, "
    "activation_size=8, parameter_size=0   \n"
    "node1 -- Input0 -- forward_compute_time=0.001, backward_compute_time=0.000, "
    "activation_size=64.0, parameter_size=0.000\n"
    "\tnode1 -- node2\n"
    "    node2 -- node10\n";

std::string node(const std::string& id, const std::string& more = "") {
  return id +
         " -- x -- forward_compute_time=1.0, backward_compute_time=2.0, activation_size=4.0, "
         "parameter_size=8.0" +
         more + "\n";
}

std::string error_of(const std::string& text) {
  const auto profile = profile_from_pipedream(text, "graph.txt");
  return profile ? "no error" : to_string(profile.error());
}

std::string read_data(const std::string& path) {
  const auto text = read_text(HEADRACE_SOURCE_DIR "/" + path);
  REQUIRE(text.has_value());
  return *text;
}

TEST_CASE("layers come in the order of their numbers with every cost") {
  const auto profile = profile_from_pipedream(kSmall, "graph.txt");
  REQUIRE(profile.has_value());
  const auto layers = profile->graph.layers();
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].id == "node1");
  CHECK(layers[2].id == "node10");
  CHECK(layers[1].kind == "Conv2d(3, 64, bias=True)");
  CHECK(layers[1].forward.mean == Seconds(3.5e-3));
  CHECK(layers[1].backward.mean == Seconds(6.25e-3));
  CHECK(layers[1].output == Bytes{4096});
  CHECK(layers[1].parameters == Bytes{1024});
  CHECK(profile->model.parameters == 256);
}

TEST_CASE("what the file does not say is marked as assumed") {
  const auto profile = profile_from_pipedream(kSmall, "graph.txt");
  REQUIRE(profile.has_value());
  const Layer& layer = profile->graph.layers()[1];
  CHECK(layer.origin == Origin::kImported);
  CHECK(layer.origins.at("optimizer_bytes") == Origin::kAssumed);
  CHECK(layer.origins.at("saved_activation_bytes") == Origin::kAssumed);
  CHECK(layer.gradients == layer.parameters);
  CHECK(layer.optimizer == Bytes{0});
  CHECK(layer.saved_activation == layer.output);
}

TEST_CASE("edges may be indented by a tab or by blanks") {
  const auto profile = profile_from_pipedream(kSmall, "graph.txt");
  REQUIRE(profile.has_value());
  REQUIRE(profile->graph.edges().size() == 2);
  CHECK(profile->graph.edges()[1] == LayerEdge{LayerId{1}, LayerId{2}, Bytes{4096}});
}

TEST_CASE("line ends of Windows are accepted") {
  const auto profile = profile_from_pipedream(
      "node1 -- x -- forward_compute_time=1, backward_compute_time=2, "
      "activation_size=4, parameter_size=8\r\n\r\n",
      "graph.txt");
  CHECK(profile.has_value());
}

TEST_CASE("stage numbers are read where they stand") {
  const auto graph =
      graph_from_pipedream(node("node1", " -- stage_id=2") + node("node2"), "graph.txt");
  REQUIRE(graph.has_value());
  CHECK(graph->stage_of_layer[0] == 2);
  CHECK_FALSE(graph->stage_of_layer[1].has_value());
}

TEST_CASE("errors name the line and the offending text") {
  CHECK(error_of("") == "graph.txt:1: no node in the file\n  fix: give a PipeDream graph.txt");
  CHECK(error_of(node("node1") + node("node1")) ==
        "graph.txt:2: node 'node1' is listed twice (also line 1)\n"
        "  fix: give every node an id of its own");
  CHECK(error_of(node("node1") + "\tnode1 -- node7\n") ==
        "graph.txt:2: edge 'node1 -- node7': no node 'node7'\n"
        "  fix: add the node or remove the edge");
  CHECK(error_of(node("node1") + node("node2") + "\tnode1 -- node2\n\tnode1 -- node2\n") ==
        "graph.txt:4: edge 'node1 -- node2' is listed twice\n  fix: remove one of the two");
  CHECK(error_of(node("node1") + "\tnode1 node2\n") ==
        "graph.txt:2: 'node1 node2' is no edge\n  fix: write SRC -- DST after a TAB");
}

TEST_CASE("a cycle is named at a line of it") {
  const std::string nodes = node("node1") + node("node2") + node("node3") + node("node4");
  CHECK(error_of(nodes + "\tnode1 -- node2\n\tnode2 -- node3\n\tnode3 -- node2\n"
                         "\tnode3 -- node4\n") ==
        "graph.txt:7: cycle node2 -> node3 -> node2\n  fix: remove one edge of the cycle");
  CHECK(error_of(nodes + "\tnode4 -- node4\n").find("graph.txt:5: edge of 'node4' to itself") == 0);
}

TEST_CASE("numbers that are none or out of range are refused") {
  const auto with = [](const std::string& number) {
    return error_of("node1 -- x -- forward_compute_time=" + number +
                    ", backward_compute_time=2.0, activation_size=4.0, parameter_size=8.0\n");
  };
  for (const char* text : {"nan", "inf", "abc", "", "1.0ms", "-1", "1e999", "1e300", "[1; 2]"}) {
    CAPTURE(text);
    CHECK(with(text).find("graph.txt:1: '" + std::string(text) + "' is ") == 0);
  }
  CHECK(with("-1").find("is negative") != std::string::npos);
}

TEST_CASE("lists with a bad entry are refused") {
  for (const char* text : {"[]", "[1; ]", "[1, 2]", "[1; -2]", "[1; nan]", "[1", "[1e18; 1e18]"}) {
    CAPTURE(text);
    CHECK(error_of("node1 -- x -- forward_compute_time=1, backward_compute_time=2, "
                   "activation_size=" +
                   std::string(text) + ", parameter_size=8\n") != "no error");
  }
}

TEST_CASE("a misspelt or missing or repeated cost is refused") {
  CHECK(error_of("node1 -- x -- foward_compute_time=1\n") ==
        "graph.txt:1: 'foward_compute_time=1' is no cost of a node (did you mean "
        "'forward_compute_time'?)\n"
        "  fix: write ID -- DESCRIPTION -- forward_compute_time=MS, backward_compute_time=MS, "
        "activation_size=BYTES, parameter_size=BYTES");
  CHECK(error_of("node1 -- x -- parameter_size=1, parameter_size=1\n").find("given twice") !=
        std::string::npos);
  CHECK(error_of("node1 -- x -- parameter_size=1\n").find("'node1' has no forward_compute_time") !=
        std::string::npos);
}

TEST_CASE("stage numbers that are none are refused") {
  for (const char* text : {"stage_id=", "stage_id=-1", "stage_id=x", "stage_id=1x", "stage=1",
                           "stage_id=99999999999"}) {
    CAPTURE(text);
    CHECK(error_of(node("node1", " -- " + std::string(text))).find("is no stage") !=
          std::string::npos);
  }
}

TEST_CASE("a written graph reads back equal with its stages") {
  for (const char* file : {"vgg16.graph.txt", "resnet50.graph.txt", "gnmt.graph.txt"}) {
    const std::string text = read_data("data/profiles/pipedream/" + std::string(file));
    const auto profile = profile_from_pipedream(text, "graph.txt");
    REQUIRE(profile.has_value());
    std::vector<int> stages(profile->graph.layers().size());
    for (std::size_t i = 0; i < stages.size(); ++i) stages[i] = static_cast<int>(i % 3);
    const auto back = graph_from_pipedream(pipedream_text(*profile, stages), "graph.txt");
    REQUIRE(back.has_value());
    CHECK(back->profile == *profile);
    for (std::size_t i = 0; i < stages.size(); ++i) CHECK(back->stage_of_layer[i] == stages[i]);
  }
}

TEST_CASE("nanoseconds and separators in names survive writing") {
  auto profile = profile_from_pipedream(kSmall, "graph.txt");
  REQUIRE(profile.has_value());
  std::vector<Layer> layers(profile->graph.layers().begin(), profile->graph.layers().end());
  layers[0].forward.mean = Seconds(1234567e-9);
  layers[0].kind = "a -- b -- -- c";
  profile->graph = *ModelGraph::build(layers, {});
  const auto back = profile_from_pipedream(pipedream_text(*profile, std::vector{0, 0, 0}), "x");
  REQUIRE(back.has_value());
  CHECK(back->graph.layers()[0].forward.mean.value() == doctest::Approx(1.234567e-3));
  CHECK(back->graph.layers()[0].kind.find(" -- ") == std::string::npos);
}

TEST_CASE("importers are found by kind") {
  CHECK(*import_profile("pipedream", kSmall, "x") == *profile_from_pipedream(kSmall, "x"));
  CHECK(import_profile("dapple", kSmall, "x").has_value());
  const auto unknown = import_profile("pipedrem", kSmall, "x");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(to_string(unknown.error()) ==
        "KIND: unknown kind of file 'pipedrem' (did you mean 'pipedream'?)\n"
        "  fix: use one of: pipedream, dapple");
}

TEST_CASE("cut-off and damaged files never crash the reader") {
  const std::string text = read_data("tests/data/planner/pipedream/vgg16_partitioned.txt");
  for (std::size_t length = 0; length < text.size(); length += 7) {
    std::string damaged = text.substr(0, length);
    if (length > 40) damaged[length / 2] = "\t=-[;\n"[length % 6];
    const auto profile = profile_from_pipedream(damaged, "graph.txt");
    if (!profile) CHECK(profile.error().where.find("graph.txt:") == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
