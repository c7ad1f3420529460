#include "tools/headrace/config_file.h"

#include "core/files.h"

namespace headrace::cli {

Result<std::vector<Setting>> read_settings(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return Failure(text.error());
  const std::string source = path == "-" ? "standard input" : path;
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (*text)[first] == '{';
  return json ? settings_from_json(*text, source) : settings_from_toml(*text, source);
}

}  // namespace headrace::cli
