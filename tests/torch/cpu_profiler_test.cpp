#include "profiler/cpu/cpu_profiler.h"

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "models/model_catalogue.h"
#include "tests/support/model_builders.h"

namespace headrace {
namespace {

CpuProfileOptions quick() {
  return {.micro_batch = 2, .load = 1, .max_repetitions = 2};
}

Profile profile_of(const ModelSpec& spec) {
  auto profile = profile_on_cpu(spec, "test", quick());
  REQUIRE_MESSAGE(profile.has_value(), to_string(profile.error()));
  return *profile;
}

Error refusal(const CpuProfileOptions& options) {
  const auto profile = profile_on_cpu(testing::tiny_mlp(), "test", options);
  REQUIRE_FALSE(profile.has_value());
  return profile.error();
}

}  // namespace

TEST_SUITE_BEGIN("profiler/cpu/cpu_profiler");

TEST_CASE("every family is profiled layer by layer and the document reads back") {
  for (const ModelSpec& spec : testing::tiny_models()) {
    CAPTURE(spec.name);
    const Profile profile = profile_of(spec);
    CHECK(profile.graph.layers().size() == testing::chain_of(spec).size());
    CHECK(profile.model.parameters == parameter_count(spec).value());
    CHECK(profile.model.spec == complete_spec(spec).value());
    CHECK(profile_from_json(to_json(profile), "p").value() == profile);
  }
}

TEST_CASE("every time and size of a middle layer is measured") {
  const Profile profile = profile_of(testing::tiny_gpt2());
  const Layer& layer = profile.graph.layers()[1];
  for (const Duration& time : {layer.forward, layer.backward, *layer.input_grad, *layer.weight_grad,
                               profile.optimizer_step}) {
    CHECK(time.mean > Seconds(0));
  }
  for (const Bytes size : {layer.parameters, layer.gradients, layer.saved_activation, layer.output,
                           layer.workspace, *layer.deferred_weight_grad}) {
    CHECK(size > Bytes(0));
  }
  CHECK(layer.optimizer == layer.parameters * 2);
}

TEST_CASE("the first layer has no input gradient and the last sends nothing") {
  const Profile profile = profile_of(testing::tiny_encoder());
  const Layer& first = profile.graph.layers().front();
  CHECK(first.input_grad == Duration{});
  CHECK(first.weight_grad == first.backward);
  CHECK_FALSE(first.deferred_weight_grad.has_value());
  CHECK(profile.graph.layers().back().output == Bytes(0));
}

TEST_CASE("alike layers are measured once and say so") {
  const Profile profile = profile_of(testing::tiny_encoder());
  const auto layers = profile.graph.layers();
  CHECK(layers[1].same_as.empty());
  CHECK(layers[2].same_as == "layers.1");
  CHECK(layers[2].forward == layers[1].forward);
}

TEST_CASE("options out of range are usage errors that name the flag") {
  CpuProfileOptions options = quick();
  options.load = 100000;
  CHECK(refusal(options).where == "--load");
  options = quick();
  options.max_repetitions = 0;
  CHECK(refusal(options).where == "--max-repetitions");
  options = quick();
  options.optimizer = "lion";
  CHECK(refusal(options).where == "--optimizer");
  options = quick();
  options.dtype = "fp8";
  CHECK(refusal(options).where == "--dtype");
  options = quick();
  options.sequence_length = 9;
  CHECK(refusal(options).where == "--seq");
}

TEST_SUITE_END();

}  // namespace headrace
