#include "models/families/transformer_checks.h"

#include <fmt/format.h>

namespace headrace {

void derive(ModelSpec& spec, const std::string& setting, std::int64_t value) {
  spec.values.try_emplace(setting, value);
}

Result<void> check_divides(const ModelSpec& spec, const std::string& part,
                           const std::string& whole) {
  const std::int64_t divisor = size_of(spec, part);
  const std::int64_t total = size_of(spec, whole);
  if (total % divisor == 0) return {};
  return Failure(
      setting_error(spec, part,
                    fmt::format("{} {} does not divide {} {}: {} are left over", part, divisor,
                                whole, total, total % divisor),
                    fmt::format("choose {} so that {} is a multiple of it", part, whole)));
}

Setting activation_setting(const std::string& fallback) {
  return {.name = "activation",
          .kind = SettingKind::kChoice,
          .fallback = fallback,
          .choices = {"gelu", "gelu_tanh", "relu", "silu"}};
}

double matrix_flops(CheckedCount tokens, CheckedCount weights) {
  return 2 * static_cast<double>(tokens.value()) * static_cast<double>(weights.value());
}

double attention_flops(CheckedCount tokens, std::int64_t sequence_length, CheckedCount width) {
  return 4 * static_cast<double>(tokens.value()) * static_cast<double>(sequence_length) *
         static_cast<double>(width.value());
}

}  // namespace headrace
