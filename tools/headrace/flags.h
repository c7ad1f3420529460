// All a command sees of the command line. Only flags.cpp knows the parsing library.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/settings_json.h"
#include "core/result.h"
#include "tools/headrace/flag_values.h"

namespace headrace::cli {

/// Reads a configuration file in TOML or INI form. Fails with kBadInput.
Result<std::vector<Setting>> settings_from_toml(const std::string& text, const std::string& source);

/// Declares one command's arguments, then parses them. What is declared first stands first in the
/// help. "-o,--output" has a short form, "--steps,--iterations" an older name; the last one is
/// shown.
class Flags {
 public:
  Flags(std::string verb, std::string summary)
      : verb_(std::move(verb)), summary_(std::move(summary)) {}

  /// A flag with a value; a flag that is not given leaves its target as it is.
  void add(const std::string& name, const std::string& value_name, ValueReader reader,
           const std::string& help);
  void add_switch(const std::string& name, bool& target, const std::string& help);
  void add_positional(const std::string& name, ValueReader reader, const std::string& help,
                      bool required = true);
  /// A flag that may be given several times; its reader is called for each.
  void add_repeatable(const std::string& name, const std::string& value_name, ValueReader reader,
                      const std::string& help);
  /// A line of --help-all that is no flag: a word that some flag's value may be.
  void explain(std::string_view word, std::string_view meaning);
  /// One value or more.
  void add_positional_list(const std::string& name, ValueReader reader, const std::string& help);
  /// Flags declared from here on are for one subject ("links and clocks"): the help only names
  /// them, --help-all explains them.
  void begin_subject(std::string title) { subject_ = std::move(title); }
  /// Flags declared from here on belong to every command and are listed in one line.
  void begin_common() { common_ = true; }
  /// A command line that works as it stands; it is run in the tests.
  void add_example(std::string line) { examples_.push_back(std::move(line)); }

  /// Takes the arguments behind the verb apart. Fails with kUsage on an unknown flag (with "did
  /// you mean"), a missing value, a flag given twice or a surplus argument.
  Result<void> parse(std::span<const std::string> arguments);
  /// Fills what the command line left open. Settings of other verbs' sections are passed over.
  /// Fails with kBadInput on an unknown name.
  Result<void> apply(std::span<const Setting> settings, const std::string& source,
                     std::span<const std::string_view> verbs);
  /// Calls the readers of the flags that every command has. Fails with the first reader's error.
  [[nodiscard]] Result<void> convert_common() const;
  /// Calls the command's own readers. Fails likewise, or with kUsage on a missing positional.
  [[nodiscard]] Result<void> convert() const;

  /// Everything that was given, as a configuration file in JSON.
  [[nodiscard]] std::string to_config() const;
  /// One screen: usage, flags, two examples; with `all` every subject's flags explained.
  [[nodiscard]] std::string help(bool all = false) const;

 private:
  struct Flag {
    std::string name;        ///< As declared.
    std::string value_name;  ///< Empty for a switch.
    std::string help;
    ValueReader reader;
    bool positional = false;
    bool required = false;
    bool repeatable = false;
    bool common = false;
    std::string subject = {};
    std::vector<std::string> values = {};
    std::string source = {};  ///< The configuration file the values come from.
  };
  [[nodiscard]] static std::string key_of(const Flag& flag);
  [[nodiscard]] static std::string shown_name(const Flag& flag);
  Flag* find(std::string_view key);
  Result<void> refuse_extras(const std::vector<std::string>& extras) const;
  static Result<void> convert(const Flag& flag);
  [[nodiscard]] std::string subject_names() const;

  std::string verb_;
  std::string summary_;
  bool common_ = false;
  std::string subject_;
  std::vector<Flag> flags_;
  std::vector<std::string> examples_;
  std::vector<std::pair<std::string, std::string>> words_;  ///< Explained under the last subject.
};

}  // namespace headrace::cli
