// What the transformer families share: derived settings, divisibility, operation counts.
#pragma once

#include <string>
#include <string_view>

#include "core/model_spec.h"
#include "core/result.h"
#include "models/checked_count.h"
#include "models/settings.h"

namespace headrace {

/// Sets `setting` where the description left it out.
void derive(ModelSpec& spec, const std::string& setting, std::int64_t value);

/// Fails with kBadInput and the arithmetic where `part` does not divide `whole`.
Result<void> check_divides(const ModelSpec& spec, const std::string& part,
                           const std::string& whole);

/// The activation functions of a feed-forward layer.
Setting activation_setting(const std::string& fallback);

/// 2 operations per multiply-add of matrices with `weights` elements applied to every token.
double matrix_flops(CheckedCount tokens, CheckedCount weights);

/// Scores and weighted sum of one attention layer of `width` = heads x head size; the causal half
/// is counted, as most published figures do.
double attention_flops(CheckedCount tokens, std::int64_t sequence_length, CheckedCount width);

}  // namespace headrace
