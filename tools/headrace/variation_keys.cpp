#include "tools/headrace/variation_keys.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/text.h"

namespace headrace::cli {
namespace {

Failure usage(std::string what, const std::string& where, std::string fix) {
  return Failure(
      {.code = ErrorCode::kUsage, .what = std::move(what), .where = where, .fix = std::move(fix)});
}

/// A key matches a form when their pieces are equal; N, A-B and PATTERN stand for anything, PATTERN
/// for the rest of the key, dots included.
bool matches(std::string_view key, std::string_view form) {
  for (std::size_t i = 0;; ++i) {
    const std::string_view wanted = piece_of(form, i);
    const std::string_view given = piece_of(key, i);
    if (wanted.empty() || given.empty()) return wanted.empty() && given.empty();
    if (wanted == "PATTERN") return true;
    if (wanted != given && wanted != "N" && wanted != "A-B") return false;
  }
}

Result<void> check_key(const std::string& key, const std::string& where) {
  std::vector<std::string_view> forms;
  for (const KeyHelp& known : variation_keys()) {
    if (matches(key, known.key)) return {};
    forms.push_back(known.key);
  }
  std::string all;
  for (const std::string_view form : forms) all += (all.empty() ? "" : ", ") + std::string(form);
  return usage(fmt::format("unknown key '{}'{}", key, did_you_mean(key, forms)), where,
               fmt::format("use one of {}", all));
}

}  // namespace

std::string_view piece_of(std::string_view key, std::size_t index) {
  for (; index > 0; --index) {
    const std::size_t dot = key.find('.');
    if (dot == std::string_view::npos) return {};
    key.remove_prefix(dot + 1);
  }
  return key.substr(0, key.find('.'));
}

const std::vector<KeyHelp>& variation_keys() {
  static const std::vector<KeyHelp> keys = {
      {"schedule", "a name, with parameters"},
      {"micro-batches", "of one iteration"},
      {"micro-batch-size", "at the same global batch; needs --profile of each size"},
      {"device-kind", "of all devices; needs a --profile measured on each kind"},
      {"stages", "of the model; cut anew, or equal stages scaled"},
      {"virtual", "stages per device; cut anew, or equal stages scaled"},
      {"recompute", "none or all"},
      {"offload", "none, or the bandwidth to host memory: 25GB/s"},
      {"communication", "async, blocking-recv, rendezvous, batched"},
      {"streams", "unlimited, per-direction, shared"},
      {"overlap", "share of F + B that an overlapped pair takes"},
      {"hop", "time of a message, without PLAN"},
      {"stage.N.forward", "time or factor; * for all stages"},
      {"stage.N.backward", "the whole, time or factor"},
      {"stage.N.weight_grad", "the part of it that is W"},
      {"device.N.speed", "factor: its times divide by it; * for all"},
      {"device.N.memory", "its capacity: 80GiB; * for all"},
      {"link.A-B.gbps", "bandwidth in Gbit/s between devices A and B; * for all"},
      {"link.A-B.latency", "time"},
      {"layer.PATTERN", "factor of all times of the layers that match, * allowed"}};
  return keys;
}

Result<Change> change_from_text(const std::string& text, const std::string& where) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return usage(fmt::format("'{}' sets nothing", text), where,
                 "write KEY=VALUE, or KEY*=FACTOR: stage.2.forward*=1.5");
  }
  Change change{.key = text.substr(0, equals), .value = text.substr(equals + 1)};
  if (change.key.back() == '*') {
    change.multiplies = true;
    change.key.pop_back();
    if (!change.key.empty() && change.key.back() == '.') change.key.pop_back();
  }
  if (auto ok = check_key(change.key, where); !ok) return Failure(ok.error());
  return change;
}

ValueReader changes_into(std::vector<Change>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    auto change = change_from_text(text, where);
    if (!change) return Failure(change.error());
    target.push_back(*std::move(change));
    return {};
  };
}

Result<Sweep> sweep_from_text(const std::string& text, const std::string& where) {
  const auto change = change_from_text(text, where);
  if (!change) return Failure(change.error());
  Sweep sweep{.key = change->key, .multiplies = change->multiplies};
  std::string_view rest = change->value;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string value(rest.substr(0, comma));
    if (value.empty()) return usage("an empty value", where, "write KEY=4,8,16");
    if (std::ranges::find(sweep.values, value) != sweep.values.end()) {
      return usage(fmt::format("'{}' is given twice", value), where, "keep one");
    }
    sweep.values.push_back(value);
    if (comma == std::string_view::npos) return sweep;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace headrace::cli
