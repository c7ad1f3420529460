// The frame of every document: schema id, tool, and the noun between.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/json/object_reader.h"
#include "core/json/object_writer.h"
#include "core/json/strict_parse.h"
#include "core/result.h"

namespace headrace {

/// "headrace/plan/1".
std::string schema_id(std::string_view name);

/// Checks "schema" and "tool" of a document that should be a `name`.
void read_frame(ObjectReader& document, std::string_view name);

/// A writer that holds "schema" and "tool".
ObjectWriter started_document(std::string_view name);

/// The text of a finished document: two spaces of indent, a final newline. Bytes that are no UTF-8
/// become U+FFFD; a number that is not finite becomes null, which no reader takes.
std::string document_text(ObjectWriter document);

/// Reads a whole document; `members(reader, noun)` asks for what stands beside the frame.
template <typename Noun, typename Members>
Result<Noun> read_document(std::string_view text, std::string_view source, std::string_view name,
                           const Members& members) {
  auto value = parse_strictly(text, source);
  if (!value) return Failure(value.error());
  ReadContext context{source};
  const Place root(context);
  Noun noun{};
  {
    ObjectReader document(*value, root);
    read_frame(document, name);
    if (!root.failed()) members(document, noun);
  }
  if (context.error) return Failure(std::move(*context.error));
  return noun;
}

/// The same for a noun whose `describe` says all.
template <typename Noun>
Result<Noun> read_document(std::string_view text, std::string_view source, std::string_view name) {
  return read_document<Noun>(text, source, name,
                             [](ObjectReader& at, Noun& noun) { describe(at, noun); });
}

template <typename Noun>
std::string write_document(const Noun& noun, std::string_view name) {
  ObjectWriter document = started_document(name);
  describe(document, noun);
  return document_text(std::move(document));
}

}  // namespace headrace
