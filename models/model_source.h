// Finds the model a person names: a description of ours, a Hugging Face config.json, or an example.
#pragma once

#include <string>
#include <vector>

#include "core/model_spec.h"
#include "core/result.h"

namespace headrace {

/// The folder with the shipped data: $HEADRACE_DATA, else share/headrace/data of the installation
/// that the running program belongs to, else the source tree it was built from.
std::string data_directory();

/// The names of the shipped examples, sorted.
std::vector<std::string> example_model_names();

/// The complete spec of `model`: a file (ours or Hugging Face's; "-" is standard input), a folder
/// with a config.json, or the name of a shipped example. A file wins over an example.
///
/// Archives of code and weights (TorchScript, pickle, zip) are refused unread: loading one runs
/// what it says. Fails with kUsage on those and on a name that is neither, with kBadInput on a file
/// that describes no model we know.
Result<ModelSpec> resolve_model(const std::string& model);

/// Our spec for a flattened Hugging Face configuration, chosen by its model_type. `name` is used
/// where the configuration names no model. Fails with kBadInput naming `source`.
Result<ModelSpec> spec_from_foreign_config(const ModelSpec& config, const std::string& name,
                                           const std::string& source);

}  // namespace headrace
