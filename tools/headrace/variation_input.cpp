#include "tools/headrace/variation_input.h"

#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "core/text.h"

namespace headrace::cli {
namespace {

Result<void> set_hops(const Change& change, bool of_plan, SimulationInput& input) {
  if (of_plan) {
    return bad_change(change, "a plan's messages take what its links take",
                      "use link.*.latency or link.*.gbps");
  }
  for (std::size_t s = 0; s + 1 < input.stages.size(); ++s) {
    if (auto ok = set_time(change, input.hop_forward[s]); !ok) return ok;
    input.hop_backward[s] = input.hop_forward[s];
  }
  return {};
}

void slow_down(SimulationInput& input, std::size_t device, double factor) {
  for (std::size_t s = 0; s < input.stages.size(); ++s) {
    if (index_of(input.schedule.device_of_stage[s]) != device) continue;
    StageCost& stage = input.stages[s];
    for (Seconds* time : {&stage.forward, &stage.backward, &stage.recompute}) {
      *time = *time * factor;
    }
    if (stage.input_grad) *stage.input_grad = *stage.input_grad * factor;
    if (stage.weight_grad) *stage.weight_grad = *stage.weight_grad * factor;
  }
}

/// I and W keep their shares where the whole backward changes, the whole follows W.
Result<void> set_stage(const Change& change, StageCost& stage) {
  const std::string_view what = piece_of(change.key, 2);
  if (what == "forward") return set_time(change, stage.forward);
  if (what == "weight_grad") {
    if (!stage.weight_grad) {
      return bad_change(change, "W is not known apart", "add --weight-grad-share 50%");
    }
    const Seconds before = *stage.weight_grad;
    if (auto ok = set_time(change, *stage.weight_grad); !ok) return ok;
    stage.backward += *stage.weight_grad - before;
    return {};
  }
  const Seconds before = stage.backward;
  if (auto ok = set_time(change, stage.backward); !ok) return ok;
  if (before <= Seconds{0} || !stage.input_grad || !stage.weight_grad) return {};
  const double factor = ratio(stage.backward, before);
  *stage.input_grad = *stage.input_grad * factor;
  *stage.weight_grad = *stage.weight_grad * factor;
  return {};
}

}  // namespace

Failure bad_change(const Change& change, std::string what, std::string fix) {
  return Failure(
      {.code = ErrorCode::kUsage,
       .what = std::move(what),
       .where = fmt::format("{}{}={}", change.key, change.multiplies ? "*" : "", change.value),
       .fix = std::move(fix)});
}

std::string where_of(const Change& change) {
  return fmt::format("{}={}", change.key, change.value);
}

Result<double> positive_number(const Change& change) {
  double value = 0;
  const char* const last = change.value.data() + change.value.size();
  const auto [end, error] = std::from_chars(change.value.data(), last, value);
  if (error == std::errc{} && end == last && value > 0 && value < 1e12) return value;
  return bad_change(change, fmt::format("'{}' is no positive number", change.value), "write 1.5");
}

Result<void> set_time(const Change& change, Seconds& time) {
  if (change.multiplies) {
    const auto factor = positive_number(change);
    if (!factor) return Failure(factor.error());
    time = time * *factor;
    return {};
  }
  const auto value = seconds_from_text(change.value, where_of(change));
  if (!value) return Failure(value.error());
  time = *value;
  return {};
}

Result<std::vector<std::size_t>> numbers(const Change& change, std::string_view piece,
                                         std::size_t size, std::string_view noun) {
  std::vector<std::size_t> all;
  if (piece == "*") {
    for (std::size_t i = 0; i < size; ++i) all.push_back(i);
    return all;
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
  if (error != std::errc{} || end != piece.data() + piece.size() || number >= size) {
    return bad_change(change, fmt::format("there is no {} '{}', there are {}", noun, piece, size),
                      fmt::format("number them from 0 to {}, or write *", size - 1));
  }
  return std::vector<std::size_t>{number};
}

Result<void> apply_change(const Change& change, bool of_plan, SimulationInput& input) {
  const std::string_view subject = piece_of(change.key, 0);
  if (subject == "hop") return set_hops(change, of_plan, input);
  const std::string_view which = piece_of(change.key, 1);
  if (subject == "device") {
    const auto devices = numbers(change, which, input.schedule.rows.size(), "device");
    if (!devices) return Failure(devices.error());
    if (piece_of(change.key, 2) == "memory") {
      if (change.multiplies) return bad_change(change, "a capacity is a size", "write 80GiB");
      const auto memory = bytes_from_text(change.value, where_of(change));
      if (!memory) return Failure(memory.error());
      input.capacity.resize(input.schedule.rows.size());
      for (const std::size_t device : *devices) input.capacity[device] = *memory;
      return {};
    }
    const auto speed = positive_number(change);
    if (!speed) return Failure(speed.error());
    for (const std::size_t device : *devices) slow_down(input, device, 1 / *speed);
    return {};
  }
  const auto model_stages =
      static_cast<std::size_t>(input.schedule.stages / input.schedule.pipelines);
  const auto stages = numbers(change, which, model_stages, "stage");
  if (!stages) return Failure(stages.error());
  for (const std::size_t stage : *stages) {
    for (std::size_t s = stage; s < input.stages.size(); s += model_stages) {
      if (auto ok = set_stage(change, input.stages[s]); !ok) return ok;
    }
  }
  return {};
}

}  // namespace headrace::cli
