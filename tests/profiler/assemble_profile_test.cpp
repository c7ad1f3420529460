#include "profiler/assemble_profile.h"

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "tests/support/model_builders.h"

namespace headrace {
namespace {

LayerCost cost(double forward, std::int64_t parameters) {
  return {.forward = {.mean = Seconds(forward)},
          .backward = {.mean = Seconds(2 * forward)},
          .input_grad = {.mean = Seconds(forward)},
          .weight_grad = {.mean = Seconds(forward)},
          .parameters = Bytes(parameters),
          .saved_activation = Bytes(100),
          .output = Bytes(40),
          .workspace = Bytes(7),
          .deferred_weight_grad = Bytes(90)};
}

// Embedding, three decoders, norm and head.
ProfileParts parts() {
  ProfileParts parts{.model = {.name = "m", .source = "m.json", .parameters = 5},
                     .device = {.kind = "cpu", .name = "a processor"},
                     .dtype = "fp32",
                     .micro_batch = 4,
                     .sequence_length = 6,
                     .optimizer = "adam",
                     .optimizer_step = {.mean = Seconds(3)},
                     .chain = layers_of(testing::tiny_gpt2(), 4, 0).value(),
                     .classes = {},
                     .costs = {cost(1, 16), cost(2, 32), cost(3, 8), cost(4, 64)}};
  parts.classes = classes_of(parts.chain);
  return parts;
}

}  // namespace

TEST_SUITE_BEGIN("profiler/assemble_profile");

TEST_CASE("members of a class share its cost and name its first member") {
  const Profile profile = assemble_profile(parts()).value();
  const auto layers = profile.graph.layers();
  REQUIRE(layers.size() == 6);
  CHECK(layers[1].same_as.empty());
  CHECK(layers[2].same_as == "layers.0");
  CHECK(layers[3].forward.mean == Seconds(2));
  CHECK(layers[5].forward.mean == Seconds(4));
  CHECK(layers[5].origin == Origin::kMeasured);
}

TEST_CASE("optimizer bytes follow the optimizer and are no measurement") {
  ProfileParts momentum = parts();
  CHECK(assemble_profile(momentum).value().graph.layers()[1].optimizer == Bytes(64));
  momentum.optimizer = "momentum";
  const Profile profile = assemble_profile(momentum).value();
  CHECK(profile.graph.layers()[1].optimizer == Bytes(32));
  CHECK(profile.graph.layers()[1].origins.at("optimizer_bytes") == Origin::kCatalogue);
}

TEST_CASE("layers form a chain whose edges carry their outputs") {
  const Profile profile = assemble_profile(parts()).value();
  REQUIRE(profile.graph.edges().size() == 5);
  CHECK(profile.graph.edges()[2] == LayerEdge{LayerId{2}, LayerId{3}, Bytes(40)});
}

TEST_CASE("tied layers keep their group") {
  const Profile profile = assemble_profile(parts()).value();
  CHECK(profile.graph.layers().front().tie_group == "embedding");
  CHECK(profile.graph.layers().back().tie_group == "embedding");
}

TEST_CASE("the profile carries its fingerprint and survives its file") {
  const Profile profile = assemble_profile(parts()).value();
  CHECK(profile.fingerprint == fingerprint_of(profile));
  CHECK(profile.fingerprint.size() == 64);
  CHECK(profile_from_json(to_json(profile), "profile.json").value() == profile);
}

TEST_SUITE_END();

}  // namespace headrace
