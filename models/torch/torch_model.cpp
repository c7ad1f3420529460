#include "models/torch/torch_model.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/check.h"
#include "models/model_catalogue.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

const TorchFamily& torch_family_of(const ModelSpec& spec) {
  static const std::array<TorchFamily, 6> families = {
      gpt2_torch_family(), llama_torch_family(), encoder_torch_family(),
      bert_torch_family(), mlp_torch_family(),   convnet_torch_family(),
  };
  const auto* found = std::ranges::find(families, spec.family, &TorchFamily::name);
  HEADRACE_CHECK(found != families.end(), "every family is built: " + spec.family);
  return *found;
}

std::int64_t index_in(const std::string& layer_id) {
  constexpr std::string_view kPrefix = "layers.";
  std::int64_t index = 0;
  if (layer_id.rfind(kPrefix, 0) == 0) {
    std::from_chars(layer_id.data() + kPrefix.size(), layer_id.data() + layer_id.size(), index);
  }
  return index;
}

Failure no_such_layer(const ModelSpec& spec, const std::string& layer_id,
                      const std::vector<LayerFacts>& layers) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = fmt::format("{} has no layer '{}'", spec.name, layer_id),
                  .where = layer_id,
                  .fix = fmt::format("use its {} layers, {} to {}", layers.size(),
                                     layers.front().id, layers.back().id)});
}

}  // namespace

Result<torch::ScalarType> scalar_type_of(const std::string& dtype) {
  if (dtype == "fp32") return torch::kFloat32;
  if (dtype == "bf16") return torch::kBFloat16;
  if (dtype == "fp64") return torch::kFloat64;
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("'{}' is no element type to compute in", dtype),
                  .where = "--dtype",
                  .fix = "use fp32, bf16 or fp64"});
}

Result<std::shared_ptr<LayerModule>> make_layer(const ModelSpec& spec, const std::string& layer_id,
                                                const TorchModelOptions& options) {
  const auto layers = layers_of(spec, options.micro_batch, options.sequence_length);
  if (!layers) return Failure(layers.error());
  const auto found = std::ranges::find(*layers, layer_id, &LayerFacts::id);
  if (found == layers->end()) return no_such_layer(spec, layer_id, *layers);
  const Result<torch::ScalarType> dtype = scalar_type_of(options.dtype);
  if (!dtype) return Failure(dtype.error());

  const LayerPlace place{.id = layer_id,
                         .index = index_in(layer_id),
                         .sequence_length = *sequence_length_of(spec, options.sequence_length),
                         .dtype = *dtype};
  auto layer = torch_family_of(spec).make_layer(*complete_spec(spec), place);
  initialise(*layer, layer_id, found->tie_group, options.seed);
  return layer;
}

Batch make_microbatch(const ModelSpec& spec, const TorchModelOptions& options, std::int64_t index) {
  const Result<ModelSpec> complete = complete_spec(spec);
  HEADRACE_CHECK(complete.has_value(), "the layers were made from this spec before");
  const BatchPlace place{
      .micro_batch = options.micro_batch,
      .sequence_length = *sequence_length_of(spec, options.sequence_length),
      .dtype = *scalar_type_of(options.dtype),
      .generator = seeded_generator(options.seed, fmt::format("microbatch/{}", index))};
  return torch_family_of(spec).make_batch(*complete, place);
}

torch::Tensor loss_of(const ModelSpec& spec, const torch::Tensor& output,
                      const torch::Tensor& target) {
  if (torch_family_of(spec).loss == Loss::kMeanSquaredError) return at::mse_loss(output, target);
  return at::cross_entropy_loss(output.flatten(0, -2), target.flatten());
}

torch::Tensor random_words(const BatchPlace& place, std::int64_t vocabulary) {
  return torch::randint(vocabulary, {place.micro_batch, place.sequence_length}, place.generator,
                        torch::kInt64);
}

torch::Tensor random_classes(const BatchPlace& place, std::int64_t classes) {
  return torch::randint(classes, {place.micro_batch}, place.generator, torch::kInt64);
}

torch::Tensor random_features(const BatchPlace& place, std::initializer_list<std::int64_t> shape) {
  std::vector<std::int64_t> sizes{place.micro_batch};
  sizes.insert(sizes.end(), shape);
  return torch::randn(sizes, place.generator, place.dtype);
}

}  // namespace headrace
