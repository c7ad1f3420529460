#include "tools/headrace/documents.h"

#include <utility>

#include "core/files.h"
#include "core/json/documents.h"

namespace headrace::cli {
namespace {

template <typename Noun>
Result<Noun> read_document(const std::string& path,
                           Result<Noun> (*read)(std::string_view, std::string_view)) {
  const auto source = read_source(path);
  if (!source) return Failure(source.error());
  return read(source->text, source->source);
}

}  // namespace

Result<SourceText> read_source(const std::string& path) {
  auto text = read_text(path);
  if (!text) return Failure(text.error());
  return SourceText{*std::move(text), path == "-" ? "standard input" : path};
}

Result<Profile> read_profile(const std::string& path) {
  return read_document(path, profile_from_json);
}
Result<Cluster> read_cluster(const std::string& path) {
  return read_document(path, cluster_from_json);
}
Result<Plan> read_plan(const std::string& path) {
  return read_document(path, plan_from_json);
}

}  // namespace headrace::cli
