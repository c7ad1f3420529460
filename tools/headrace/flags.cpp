#include "tools/headrace/flags.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/text.h"
#include "report/json_text.h"

namespace headrace::cli {
namespace {

constexpr std::size_t kHelpColumn = 26;  // where explanations start

Failure usage(std::string what, std::string where, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = std::move(where),
                  .fix = std::move(fix)});
}

std::string help_line(const std::string& left, const std::string& help) {
  return fmt::format("  {:<{}}{}\n", left + ' ', kHelpColumn - 2, help);
}

/// The library names the flag first in its messages: "--stages: 1 required TEXT missing".
std::string flag_named_in(std::string_view message) {
  return std::string(message.substr(0, message.find_first_of(": ")));
}

}  // namespace

void Flags::add(const std::string& name, const std::string& value_name, ValueReader reader,
                const std::string& help) {
  flags_.push_back({.name = name,
                    .value_name = value_name,
                    .help = help,
                    .reader = std::move(reader),
                    .common = common_,
                    .subject = common_ ? "" : subject_});
}

void Flags::add_switch(const std::string& name, bool& target, const std::string& help) {
  const auto reader = [&target](const std::string& text, const std::string& where) -> Result<void> {
    if (text != "true" && text != "false") {
      return usage(fmt::format("'{}' is neither true nor false", text), where,
                   "give true or false");
    }
    target = text == "true";
    return {};
  };
  flags_.push_back({.name = name,
                    .help = help,
                    .reader = reader,
                    .common = common_,
                    .subject = common_ ? "" : subject_});
}

void Flags::add_positional(const std::string& name, ValueReader reader, const std::string& help,
                           bool required) {
  flags_.push_back({.name = name,
                    .value_name = name,
                    .help = help,
                    .reader = std::move(reader),
                    .positional = true,
                    .required = required});
}

void Flags::add_repeatable(const std::string& name, const std::string& value_name,
                           ValueReader reader, const std::string& help) {
  add(name, value_name, std::move(reader), help);
  flags_.back().repeatable = true;
}

void Flags::explain(std::string_view word, std::string_view meaning) {
  words_.push_back({std::string(word), std::string(meaning)});
}

void Flags::add_positional_list(const std::string& name, ValueReader reader,
                                const std::string& help) {
  add_positional(name, std::move(reader), help);
  flags_.back().repeatable = true;
}

std::string Flags::shown_name(const Flag& flag) {
  return flag.name.substr(flag.name.find(',') + 1);  // npos + 1 is 0: a name without a comma
}

std::string Flags::key_of(const Flag& flag) {
  std::string key = shown_name(flag);
  key.erase(0, key.find_first_not_of('-'));
  if (!flag.positional) return key;
  std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
  return key;
}

Flags::Flag* Flags::find(std::string_view key) {
  const auto is_named = [key](const Flag& flag) {
    return key_of(flag) == key || flag.name.starts_with("--" + std::string(key) + ",");
  };
  const auto found = std::ranges::find_if(flags_, is_named);
  return found == flags_.end() ? nullptr : &*found;
}

Result<void> Flags::parse(std::span<const std::string> arguments) {
  CLI::App app;
  app.set_help_flag();  // help is a flag of ours: it must win over a missing argument
  app.allow_extras();
  std::vector<std::string> positionals(flags_.size());
  std::vector<std::size_t> counts(flags_.size());
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    Flag& flag = flags_[i];
    if (flag.positional && !flag.repeatable) {
      app.add_option(flag.name, positionals[i]);
    } else if (flag.positional) {
      app.add_option(flag.name, flag.values);
    } else if (flag.value_name.empty()) {
      app.add_flag(flag.name, counts[i]);
    } else {
      app.add_option(flag.name, flag.values)->allow_extra_args(false);
    }
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    return usage("the value is missing", flag_named_in(mismatch.what()),
                 fmt::format("give it a value; see headrace {} --help", verb_));
  } catch (const CLI::Error& error) {
    return usage(error.what(), "headrace " + verb_, fmt::format("see headrace {} --help", verb_));
  }
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    if (!positionals[i].empty()) flags_[i].values = {positionals[i]};
    if (counts[i] > 0) flags_[i].values = {"true"};
    if (flags_[i].values.size() > 1 && !flags_[i].repeatable) {
      return usage(fmt::format("given {} times", flags_[i].values.size()), shown_name(flags_[i]),
                   "give it once");
    }
  }
  return refuse_extras(app.remaining());
}

Result<void> Flags::refuse_extras(const std::vector<std::string>& extras) const {
  if (extras.empty()) return {};
  std::vector<std::string> names;
  for (const Flag& flag : flags_) {
    if (!flag.positional) names.push_back(shown_name(flag));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  for (const std::string& extra : extras) {
    if (extra.size() < 2 || extra.front() != '-') continue;
    const std::string name = extra.substr(0, extra.find('='));
    return usage(fmt::format("unknown flag '{}'{}", name, did_you_mean(name, candidates)),
                 "headrace " + verb_, fmt::format("see headrace {} --help", verb_));
  }
  return usage(fmt::format("unexpected argument '{}'", extras.front()), "headrace " + verb_,
               fmt::format("see headrace {} --help", verb_));
}

Result<void> Flags::apply(std::span<const Setting> settings, const std::string& source,
                          std::span<const std::string_view> verbs) {
  std::vector<std::string> keys;
  for (const Flag& flag : flags_) keys.push_back(key_of(flag));
  const std::vector<std::string_view> candidates(keys.begin(), keys.end());
  for (const Setting& setting : settings) {
    std::string_view key = setting.name;
    if (const std::size_t dot = key.find('.'); dot != std::string_view::npos) {
      const std::string_view section = key.substr(0, dot);
      if (section != verb_ && std::ranges::find(verbs, section) != verbs.end()) continue;
      if (section == verb_) key.remove_prefix(dot + 1);
    }
    Flag* flag = find(key);
    if (flag == nullptr || key == "config" || key == "dump-config" || key == "help" ||
        key == "help-all") {
      return Failure({.code = ErrorCode::kBadInput,
                      .what = fmt::format("unknown setting '{}'{}", setting.name,
                                          did_you_mean(key, candidates)),
                      .where = source,
                      .fix = fmt::format("name flags of headrace {} without their dashes", verb_)});
    }
    if (!flag->values.empty()) continue;  // the command line wins
    if (setting.values.size() != 1 && !flag->repeatable) {
      return Failure(
          {.code = ErrorCode::kBadInput,
           .what = fmt::format("'{}' has {} values", setting.name, setting.values.size()),
           .where = source,
           .fix = "give one value; a list for stages is one text, \"1,2,3ms\""});
    }
    flag->values = setting.values;
    flag->source = source;
  }
  return {};
}

Result<void> Flags::convert(const Flag& flag) {
  for (const std::string& value : flag.values) {
    const std::string where =
        flag.source.empty() ? shown_name(flag) : fmt::format("{}: {}", flag.source, key_of(flag));
    auto ok = flag.reader(value, where);
    if (ok) continue;
    if (!flag.source.empty())
      ok.error().code = ErrorCode::kBadInput;  // a file's fault, not a flag's
    return ok;
  }
  return {};
}

Result<void> Flags::convert() const {
  for (const Flag& flag : flags_) {
    if (flag.required && flag.values.empty()) {
      return usage(fmt::format("{} is missing", flag.name), "headrace " + verb_,
                   fmt::format("see headrace {} --help", verb_));
    }
    if (flag.common) continue;
    if (auto ok = convert(flag); !ok) return ok;
  }
  return {};
}

Result<void> Flags::convert_common() const {
  for (const Flag& flag : flags_) {
    if (!flag.common) continue;
    if (auto ok = convert(flag); !ok) return ok;
  }
  return {};
}

std::string Flags::to_config() const {
  std::vector<std::string> lines;
  for (const Flag& flag : flags_) {
    const std::string key = key_of(flag);
    if (flag.values.empty() || key == "config" || key == "dump-config") continue;
    std::vector<std::string> values;
    for (const std::string& value : flag.values) {
      values.push_back(flag.value_name.empty() ? value : json_string(value));
    }
    lines.push_back(flag.repeatable
                        ? fmt::format("  {}: [{}]", json_string(key), fmt::join(values, ", "))
                        : fmt::format("  {}: {}", json_string(key), values.front()));
  }
  if (lines.empty()) return "{}\n";
  return fmt::format("{{\n{}\n}}\n", fmt::join(lines, ",\n"));
}

std::string Flags::subject_names() const {
  constexpr std::size_t kColumns = 100;
  std::string text;
  std::string line = "more, see --help-all:";
  for (const Flag& flag : flags_) {
    if (flag.subject.empty()) continue;
    if (line.size() + 1 + flag.name.size() > kColumns) {
      text += line + "\n";
      line = " ";
    }
    line += " " + flag.name;
  }
  const bool any = std::ranges::any_of(flags_, [](const Flag& f) { return !f.subject.empty(); });
  return any ? text + line + "\n" : "";
}

std::string Flags::help(bool all) const {
  std::string positionals;
  std::string body;
  std::string subject;
  std::vector<std::string> common;
  for (const Flag& flag : flags_) {
    const std::string left =
        flag.positional || flag.value_name.empty() ? flag.name : flag.name + " " + flag.value_name;
    if (flag.common) {
      if (flag.name == "--help-all") continue;  // Named where there is more to see.
      const std::string name = flag.name.substr(0, flag.name.find(','));
      common.push_back(flag.value_name.empty() ? name : name + " " + flag.value_name);
      continue;
    }
    if (!flag.subject.empty() && !all) continue;
    if (flag.subject != subject) body += flag.subject + ":\n";
    subject = flag.subject;
    body += help_line(left, flag.help);
    if (!flag.positional) continue;
    const std::string shown = flag.name + (flag.repeatable ? "..." : "");
    positionals += flag.required ? " " + shown : " [" + shown + "]";
  }
  std::string text =
      fmt::format("usage: headrace {}{} [flags]\n{}\n", verb_, positionals, summary_);
  if (all && !words_.empty()) body += subject_ + ":\n";
  for (const auto& [word, meaning] : words_) {
    if (all) body += help_line(word, meaning);
  }
  text += body;
  if (!all) text += subject_names();
  text +=
      fmt::format("every command: {} (see headrace --help)\nexamples:\n", fmt::join(common, "  "));
  for (const std::string& example : examples_) text += "  " + example + "\n";
  return text;
}

Result<std::vector<Setting>> settings_from_toml(const std::string& text,
                                                const std::string& source) {
  std::istringstream stream(text);
  std::vector<Setting> settings;
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
      if (item.name == "++" || item.name == "--") continue;  // the library's section marks
      settings.push_back({item.fullname(), item.inputs});
    }
  } catch (const std::exception& problem) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = fmt::format("no TOML or INI: {}", problem.what()),
                    .where = source,
                    .fix = "write lines of the form name = value, or a JSON object"});
  }
  return settings;
}

}  // namespace headrace::cli
