#include "profiler/layer_classes.h"

#include <map>
#include <string>
#include <tuple>

namespace headrace {

std::vector<LayerClass> classes_of(std::span<const LayerFacts> chain) {
  std::vector<LayerClass> classes;
  std::map<std::tuple<std::string, bool, bool>, std::size_t> known;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const bool first = i == 0;
    const bool last = i + 1 == chain.size();
    const auto [entry, is_new] =
        known.try_emplace({chain[i].same_as_key, first, last}, classes.size());
    if (is_new) {
      classes.push_back({.members = {}, .needs_input_gradient = !first, .has_loss = last});
    }
    classes[entry->second].members.push_back(static_cast<int>(i));
  }
  return classes;
}

}  // namespace headrace
