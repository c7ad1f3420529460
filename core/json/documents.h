// Every document that Headrace reads or writes, as text. The only way from JSON to a noun and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"
#include "core/comparison.h"
#include "core/model_spec.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/simulation.h"
#include "core/timeline.h"
#include "core/what_if.h"

namespace headrace {

// Reading is strict: an unknown key (with "did you mean"), a missing key, a wrong type, NaN, a
// negative or overflowing number, a duplicate key or id, a dangling edge, a wrong schema id, text
// that is no JSON or nests deeper than 64 levels end in kBadInput. `source` is the file's name;
// `where` becomes "profile.json: /layers/3/forward/mean_s", or "profile.json:12:5" for syntax.
// Limits that keep sums finite: times 1e12 s, bytes 2^53, counts of stages, devices and
// micro-batches a million. Which keys may be absent: the schemas. Events of a timeline are sorted.
Result<Profile> profile_from_json(std::string_view text, std::string_view source);
Result<Cluster> cluster_from_json(std::string_view text, std::string_view source);
Result<Plan> plan_from_json(std::string_view text, std::string_view source);
Result<Simulation> simulation_from_json(std::string_view text, std::string_view source);
Result<Timeline> timeline_from_json(std::string_view text, std::string_view source);
Result<Comparison> comparison_from_json(std::string_view text, std::string_view source);
/// Our own model description: {"schema": "headrace/model/1", "family": …, settings…}.
Result<WhatIf> what_if_from_json(std::string_view text, std::string_view source);
Result<ModelSpec> model_from_json(std::string_view text, std::string_view source);
/// A foreign configuration (Hugging Face config.json) flattened to dotted names ("text_config.
/// hidden_size"); arrays and nulls are left out. `family` and `name` stay empty.
Result<ModelSpec> foreign_config_from_json(std::string_view text, std::string_view source);
/// What another of our programs failed with.
Result<Error> error_from_json(std::string_view text, std::string_view source);

// Writing: stable key order, two spaces of indent, shortest digits that read back equal, a final
// newline; every document starts with "schema" and "tool". Reading it back gives an equal value,
// but for what documents do not hold: Plan::predicted's devices, samples of a plan's times, and
// `overlaps_next` of a critical path. A number that is not finite becomes null, which no reader
// takes.
std::string to_json(const Profile& profile);
std::string to_json(const Cluster& cluster);
std::string to_json(const Plan& plan);
std::string to_json(const Simulation& simulation);
std::string to_json(const Timeline& timeline);
std::string to_json(const Comparison& comparison);
std::string to_json(const WhatIf& what_if);
std::string to_json(const ModelSpec& model);
std::string to_json(const Error& error);

/// SHA-256 over everything in the profile that decides a plan: model, shapes, dtype, device,
/// software, layers and edges, but not the fingerprint itself.
std::string fingerprint_of(const Profile& profile);

/// The schema id of a document ("headrace/plan/1"), to tell files apart before reading them.
Result<std::string> schema_id_of(std::string_view text, std::string_view source);

/// The published JSON Schema (draft 2020-12) of a document by name ("plan"), and all the names.
Result<std::string> schema_text(std::string_view name);
std::vector<std::string_view> schema_names();

}  // namespace headrace
