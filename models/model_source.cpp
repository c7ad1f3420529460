#include "models/model_source.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/files.h"
#include "core/json/documents.h"
#include "core/text.h"
#include "models/families.h"
#include "models/foreign_config.h"
#include "models/model_catalogue.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestDescription = std::size_t{16} << 20;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// What the first bytes give away: every loader of these formats can be made to run code.
std::string_view archive_kind(std::string_view start) {
  if (start.substr(0, 2) == "PK") return "a zip archive (TorchScript, .pt2 or a checkpoint)";
  if (!start.empty() && start[0] == '\x80') return "a Python pickle";
  if (start.substr(0, 3) == "\x89HD") return "an HDF5 file";
  if (start.substr(0, 2) == "\x1f\x8b") return "a gzip archive";
  return {};
}

Failure refused(const std::string& path, std::string_view kind) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("{} is {}: it is refused unread, since loading one can run "
                                      "any code",
                                      path, kind),
                  .where = path,
                  .fix = "give the model's config.json or a headrace/model/1 description"});
}

Result<std::string> description_text(const std::string& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {  // A pipe can be read only once.
    std::ifstream file(path, std::ios::binary);
    std::string start(4, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(file.gcount()));
    if (const auto kind = archive_kind(start); !kind.empty()) return refused(path, kind);
  }
  Result<std::string> text = read_text(path, kLongestDescription);
  if (!text) return text;
  if (const auto kind = archive_kind(*text); !kind.empty()) return refused(path, kind);
  return text;
}

// "llama-2-7b" of "models/llama-2-7b/config.json", "tiny" of "tiny.json".
std::string name_from(const fs::path& path) {
  std::string stem = path.stem().string();
  if (stem != "config" || !path.has_parent_path()) return stem;
  return path.parent_path().filename().string();
}

Result<ModelSpec> read_description(const std::string& path) {
  const Result<std::string> text = description_text(path);
  if (!text) return Failure(text.error());
  if (schema_id_of(*text, path)) {
    Result<ModelSpec> spec = model_from_json(*text, path);
    if (!spec) return spec;
    if (spec->name.empty()) spec->name = name_from(path);
    return complete_spec(*spec);
  }
  Result<ModelSpec> config = foreign_config_from_json(*text, path);
  if (!config) return config;
  return spec_from_foreign_config(*config, name_from(path), path);
}

Failure no_such_model(const std::string& model) {
  const std::vector<std::string> examples = example_model_names();
  const std::vector<std::string_view> names(examples.begin(), examples.end());
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("there is no file and no shipped example '{}'{}", model,
                                      did_you_mean(model, names)),
                  .where = "MODEL",
                  .fix = fmt::format("give a config.json, a description of ours, or one of {}",
                                     fmt::join(names, ", "))});
}

}  // namespace

std::string data_directory() {
  if (const char* chosen = std::getenv("HEADRACE_DATA"); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const fs::path installed = program.parent_path().parent_path() / "share" / "headrace" / "data";
    if (is_folder(installed)) return installed.string();
  }
  return HEADRACE_SOURCE_DATA;
}

std::vector<std::string> example_model_names() {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(fs::path(data_directory()) / "models", failed)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

Result<ModelSpec> resolve_model(const std::string& model) {
  std::error_code ignored;
  if (model == "-") return read_description(model);
  if (is_folder(model)) return read_description((fs::path(model) / "config.json").string());
  if (fs::exists(model, ignored)) return read_description(model);
  if (std::ranges::count(example_model_names(), model) > 0) {
    return read_description((fs::path(data_directory()) / "models" / (model + ".json")).string());
  }
  return no_such_model(model);
}

Result<ModelSpec> spec_from_foreign_config(const ModelSpec& config, const std::string& name,
                                           const std::string& source) {
  const ForeignConfig theirs(config, source);
  if (theirs.find("vision_config.model_type") != nullptr ||
      theirs.find("vision_config.hidden_size") != nullptr) {
    return Failure(theirs.error("vision_config",
                                "the model has a vision tower, which is no layer "
                                "of the chain",
                                "give the configuration of the language model alone"));
  }
  const std::string type = theirs.text("model_type", "");
  std::vector<std::string_view> known;
  for (const Family& family : all_families()) {
    known.insert(known.end(), family.foreign_types.begin(), family.foreign_types.end());
    if (std::ranges::count(family.foreign_types, type) == 0) continue;
    Result<ModelSpec> spec = family.from_foreign(config, source);
    if (!spec) return spec;
    spec->family = family.name;
    spec->name = theirs.text("_name_or_path", "");
    if (spec->name.empty()) spec->name = name;
    return complete_spec(*spec);
  }
  return Failure(theirs.error("model_type",
                              type.empty() ? "there is neither a \"schema\" nor a \"model_type\""
                                           : fmt::format("the model_type '{}' is not known{}", type,
                                                         did_you_mean(type, known)),
                              fmt::format("use one of {}, or write a headrace/model/1 description",
                                          fmt::join(known, ", "))));
}

}  // namespace headrace
