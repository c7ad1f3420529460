// Schema ids, the "schema" and "tool" members, and the final text.
#include "core/json/document.h"

#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/version.h"

namespace headrace {
namespace {

constexpr std::string_view kPrefix = "headrace/";

/// "plan" of "headrace/plan/1"; empty where the id is none of ours.
std::string_view name_in(std::string_view id) {
  if (!id.starts_with(kPrefix)) return {};
  id.remove_prefix(kPrefix.size());
  return id.substr(0, id.find('/'));
}

std::string schema_fix(std::string_view found, std::string_view name) {
  if (name_in(found) == name) return "this version reads only format 1; use a matching headrace";
  if (!name_in(found).empty()) {
    return fmt::format("give a {} document, this one is a {}", name, printable(name_in(found)));
  }
  return fmt::format("write \"schema\": \"{}\"", schema_id(name));
}

}  // namespace

std::string schema_id(std::string_view name) {
  return fmt::format("{}{}/1", kPrefix, name);
}

void read_frame(ObjectReader& document, std::string_view name) {
  std::string id = schema_id(name);
  document.required("schema", id);
  if (id != schema_id(name)) {
    const Place at(document.place(), "schema");
    at.fail(fmt::format("schema '{}', expected '{}'", printable(id), schema_id(name)),
            schema_fix(id, name));
  }
  document.object_if_present("tool", [](ObjectReader& tool) {
    std::string ignored;
    tool.required("name", ignored);
    tool.required("version", ignored);
  });
}

ObjectWriter started_document(std::string_view name) {
  ObjectWriter document;
  document.set("schema", schema_id(name));
  document.object("tool", [](ObjectWriter& tool) {
    tool.required("name", std::string("headrace"));
    tool.required("version", std::string(kVersion));
  });
  return document;
}

std::string document_text(ObjectWriter document) {
  constexpr int kIndent = 2;
  return std::move(document).take().dump(kIndent, ' ', false,
                                         OrderedJson::error_handler_t::replace) +
         "\n";
}

Result<std::string> schema_id_of(std::string_view text, std::string_view source) {
  const auto value = parse_strictly(text, source);
  if (!value) return Failure(value.error());
  if (value->is_object()) {
    const auto id = value->find("schema");
    if (id != value->end() && id->is_string()) return id->get<std::string>();
  }
  return Failure({.code = ErrorCode::kBadInput,
                  .what = "no document of headrace: it has no \"schema\" text",
                  .where = std::string(source),
                  .fix = "give a file that headrace wrote, or add its \"schema\""});
}

}  // namespace headrace
