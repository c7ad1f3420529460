# Writes OUTPUT, a source file that holds the text of every schema: cmake -DOUTPUT= -DFOLDER= -DNAMES= -P
string(REPLACE "," ";" names "${NAMES}")
set(entries "")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}.schema.json" text)
  string(APPEND entries "    Schema{\"${name}\", R\"schema(${text})schema\"},\n")
endforeach()
file(WRITE "${OUTPUT}"
"// Generated from core/json/schemas by core/json/embed_schemas.cmake.
#include \"core/json/schemas.h\"

#include <array>

namespace headrace {

std::span<const Schema> embedded_schemas() {
  static constexpr std::array kSchemas = {
${entries}  };
  return kSchemas;
}

}  // namespace headrace
")
