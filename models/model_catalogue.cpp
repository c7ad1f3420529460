#include "models/model_catalogue.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.h"
#include "models/families.h"

namespace headrace {
namespace {

Result<const Family*> family_of(const ModelSpec& spec) {
  for (const Family& family : all_families()) {
    if (family.name == spec.family) return &family;
  }
  const std::vector<std::string_view> names = family_names();
  return Failure({.code = ErrorCode::kBadInput,
                  .what = fmt::format("there is no model family '{}'{}", spec.family,
                                      did_you_mean(spec.family, names)),
                  .where = fmt::format("{}: /family", spec.name.empty() ? "model" : spec.name),
                  .fix = fmt::format("use one of {}", fmt::join(names, ", "))});
}

Result<LayerFacts> facts_of(const ModelSpec& spec, const CountedLayer& layer) {
  if (layer.parameters.overflowed() || layer.output_elements.overflowed()) {
    return Failure(
        {.code = ErrorCode::kBadInput,
         .what = fmt::format("layer {} has more than 2^63 parameters or outputs", layer.id),
         .where = spec.name.empty() ? spec.family : spec.name,
         .fix = "use smaller sizes or a smaller micro-batch"});
  }
  return LayerFacts{
      .id = layer.id,
      .kind = layer.kind,
      .parameters = layer.parameters.value(),
      .tie_group = layer.tie_group,
      .tied_parameters = layer.tied_parameters.value(),
      .same_as_key = fmt::format("{}/{}/{}", layer.kind, layer.parameters.value(),
                                 layer.output_elements.value()),
      .forward_flops = Flops(layer.forward_flops),
      .output_elements = layer.output_elements.value(),
  };
}

}  // namespace

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const Family& family : all_families()) names.push_back(family.name);
  return names;
}

Result<ModelSpec> complete_spec(const ModelSpec& spec) {
  const Result<const Family*> family = family_of(spec);
  if (!family) return Failure(family.error());
  Result<ModelSpec> complete = check_settings(spec, (*family)->settings);
  if (!complete || (*family)->finish == nullptr) return complete;
  if (auto fits = (*family)->finish(*complete); !fits) return Failure(fits.error());
  return complete;
}

Result<int> sequence_length_of(const ModelSpec& spec, int requested) {
  const Result<ModelSpec> complete = complete_spec(spec);
  if (!complete) return Failure(complete.error());
  const Family& family = **family_of(spec);
  const bool has_sequence = family.longest_sequence != nullptr;
  if (requested < 0 || (requested > 0 && !has_sequence)) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = has_sequence
                                ? fmt::format("{} is no sequence length", requested)
                                : fmt::format("the family {} has no sequence", spec.family),
                    .where = "--seq",
                    .fix = has_sequence ? "give a positive number" : "leave --seq out"});
  }
  if (!has_sequence) return 0;
  const std::int64_t length = requested > 0 ? requested : size_of(*complete, "sequence_length");
  const std::int64_t longest = family.longest_sequence(*complete);
  if (longest > 0 && length > longest) {
    return Failure(
        {.code = ErrorCode::kUsage,
         .what = fmt::format("a sequence of {} is longer than the {} positions of {}", length,
                             longest, spec.name.empty() ? "the model" : spec.name),
         .where = "--seq",
         .fix = fmt::format("use --seq {} or less", longest)});
  }
  return static_cast<int>(length);
}

Result<std::vector<LayerFacts>> layers_of(const ModelSpec& spec, int micro_batch,
                                          int sequence_length) {
  if (micro_batch < 1) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} is no micro-batch size", micro_batch),
                    .where = "--micro-batch",
                    .fix = "give a positive number"});
  }
  const Result<int> length = sequence_length_of(spec, sequence_length);
  if (!length) return Failure(length.error());
  const ModelSpec complete = *complete_spec(spec);

  std::vector<LayerFacts> layers;
  CheckedCount total;
  for (const CountedLayer& layer : (*family_of(spec))->layers(complete, {micro_batch, *length})) {
    Result<LayerFacts> facts = facts_of(spec, layer);
    if (!facts) return Failure(facts.error());
    total += layer.parameters;
    if (total.overflowed())
      return Failure(facts_of(spec, {.id = layer.id, .parameters = total}).error());
    layers.push_back(std::move(*facts));
  }
  return layers;
}

Result<std::int64_t> parameter_count(const ModelSpec& spec) {
  const Result<const Family*> family = family_of(spec);
  if (!family) return Failure(family.error());
  // The shortest sequence: parameters do not depend on it.
  const int sequence_length = (*family)->longest_sequence != nullptr ? 1 : 0;
  const Result<std::vector<LayerFacts>> layers = layers_of(spec, 1, sequence_length);
  if (!layers) return Failure(layers.error());
  std::int64_t total = 0;
  std::vector<std::string_view> groups;
  for (const LayerFacts& layer : *layers) {
    const bool repeated =
        !layer.tie_group.empty() && std::ranges::count(groups, layer.tie_group) > 0;
    total += layer.parameters - (repeated ? layer.tied_parameters : 0);
    if (!layer.tie_group.empty()) groups.push_back(layer.tie_group);
  }
  return total;
}

}  // namespace headrace
