#include "models/families.h"

#include <array>

namespace headrace {

std::span<const Family> all_families() {
  static const std::array<Family, 6> families = {
      gpt2_family(), llama_family(), encoder_family(),
      bert_family(), mlp_family(),   convnet_family(),
  };
  return families;
}

}  // namespace headrace
