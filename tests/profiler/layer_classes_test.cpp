#include "profiler/layer_classes.h"

#include <doctest/doctest.h>

#include "tests/support/model_builders.h"

namespace headrace {
namespace {

std::vector<LayerClass> classes_in(const ModelSpec& spec) {
  return classes_of(layers_of(spec, 2, 0).value());
}

}  // namespace

TEST_SUITE_BEGIN("profiler/layer_classes");

TEST_CASE("decoders are one class between embedding norm and head") {
  CHECK(classes_in(testing::tiny_gpt2()) ==
        std::vector<LayerClass>{{.members = {0}, .needs_input_gradient = false},
                                {.members = {1, 2, 3}},
                                {.members = {4}},
                                {.members = {5}, .has_loss = true}});
}

TEST_CASE("the ends of a chain of equal layers are classes of their own") {
  CHECK(classes_in(testing::tiny_encoder()) ==
        std::vector<LayerClass>{{.members = {0}, .needs_input_gradient = false},
                                {.members = {1, 2}},
                                {.members = {3}, .has_loss = true}});
}

TEST_CASE("a single layer is first and last at once") {
  ModelSpec spec = testing::tiny_encoder();
  spec.values["num_layers"] = testing::whole(1);
  CHECK(classes_in(spec) ==
        std::vector<LayerClass>{{.members = {0}, .needs_input_gradient = false, .has_loss = true}});
}

TEST_SUITE_END();

}  // namespace headrace
