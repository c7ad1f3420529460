#include "simulator/schedule_catalogue.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "simulator/schedules/generators.h"

namespace headrace {
namespace {

/// One line per schedule: adding a schedule is a generator file and a line here.
struct Entry {
  std::string_view name;
  int virtual_stages;  ///< Per device, when the user names none.
  Result<Schedule> (*generate)(const ScheduleRequest&);
  std::vector<std::string_view> parameters;
  bool looks_at_costs = false;
};

const std::vector<Entry>& table() {
  static const std::vector<Entry> entries = {
      {"gpipe", 1, gpipe_schedule, {}},
      {"gpipe-lifo", 1, gpipe_lifo_schedule, {}},
      {"1f1b", 1, one_forward_one_backward_schedule, {}},
      {"eager-1f1b", 1, eager_one_forward_one_backward_schedule, {}},
      {"interleaved", 2, interleaved_schedule, {"group"}},
      {"group-interleaved", 2, group_interleaved_schedule, {"group"}},
      {"looped-bfs", 2, looped_breadth_first_schedule, {}},
      {"interleaved-zb", 2, interleaved_zero_bubble_schedule, {}},
      {"zb-h1", 1, zero_bubble_h1_schedule, {}},
      {"zb-h2", 1, zero_bubble_h2_schedule, {}},
      {"zb-auto", 1, zero_bubble_automatic_schedule, {"limit", "objective", "effort"}, true},
      {"v-auto", 2, folded_automatic_schedule, {"limit", "objective", "effort"}, true},
      {"v-half", 2, folded_half_schedule, {"objective", "effort"}, true},
      {"v-min", 2, folded_least_schedule, {"objective", "effort"}, true},
      {"zbv", 2, zero_bubble_v_schedule, {}},
      {"dualpipe", 1, dual_pipe_schedule, {}},
      {"chimera", 1, chimera_schedule, {}},
      {"dualpipev", 2, dual_pipe_v_schedule, {}},
      {"hanayo", 2, hanayo_schedule, {"limit"}},
      {"seq1f1b", 1, sequence_pieces_schedule, {"pieces"}},
      {"1f1b-overlap", 1, overlapped_schedule, {"group"}},
      {"pipedream", 1, pipe_dream_schedule, {}},
      {"pipedream-2bw", 1, pipe_dream_double_buffered_schedule, {}},
      {"forward-only", 1, forward_only_schedule, {}},
  };
  return entries;
}

Failure usage(std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kUsage,
                  .what = std::move(what),
                  .where = "--schedule",
                  .fix = std::move(fix)});
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

Result<void> check_counts(const ScheduleRequest& request) {
  const std::array<std::pair<std::string_view, int>, 3> counts = {
      std::pair{std::string_view("--stages"), request.stages},
      std::pair{std::string_view("devices"), request.devices},
      std::pair{std::string_view("--micro-batches"), request.microbatches}};
  for (const auto& [name, count] : counts) {
    if (count >= 1) continue;
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} is {}", name, count),
                    .where = std::string(name),
                    .fix = "use at least 1"});
  }
  // Some hundred bytes per pair: more would not fit in memory; refuse instead of failing on the
  // way.
  constexpr std::int64_t kMostPairs = 50'000'000;
  const std::int64_t pairs = static_cast<std::int64_t>(request.stages) * request.microbatches;
  if (pairs > kMostPairs) {
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("{} stages x {} micro-batches = {} is more than {}",
                                        request.stages, request.microbatches, pairs, kMostPairs),
                    .where = "--micro-batches",
                    .fix = "simulate fewer micro-batches; the steady state repeats"});
  }
  return {};
}

}  // namespace

Result<Schedule> make_schedule(const ScheduleRequest& request) {
  const auto entry = std::ranges::find(table(), std::string_view(request.name), &Entry::name);
  if (entry == table().end()) {
    return usage(fmt::format("unknown schedule '{}'{}", request.name,
                             did_you_mean(request.name, schedule_names())),
                 fmt::format("use one of {}", joined(schedule_names())));
  }
  for (const auto& [name, value] : request.parameters) {
    if (std::ranges::find(entry->parameters, std::string_view(name)) != entry->parameters.end()) {
      continue;
    }
    return usage(fmt::format("schedule '{}' has no parameter '{}'{}", request.name, name,
                             did_you_mean(name, entry->parameters)),
                 entry->parameters.empty()
                     ? fmt::format("write --schedule {}", request.name)
                     : fmt::format("its parameters: {}", joined(entry->parameters)));
  }
  if (auto ok = check_counts(request); !ok) return Failure(ok.error());
  auto schedule = entry->generate(request);
  if (schedule) schedule->name = request.name;
  return schedule;
}

Result<ScheduleRequest> schedule_request_from_text(std::string_view text) {
  ScheduleRequest request;
  const std::size_t colon = text.find(':');
  request.name = std::string(text.substr(0, colon));
  if (request.name.empty()) {
    return usage("a schedule without a name",
                 fmt::format("use one of {}", joined(schedule_names())));
  }
  while (colon != std::string_view::npos && text.find(':') != std::string_view::npos) {
    text.remove_prefix(text.find(':') + 1);
    const std::string_view part = text.substr(0, text.find(':'));
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size()) {
      return usage(fmt::format("'{}' is no parameter", part), "write NAME:parameter=value");
    }
    const auto [place, fresh] =
        request.parameters.emplace(part.substr(0, equals), part.substr(equals + 1));
    if (!fresh)
      return usage(fmt::format("parameter '{}' is given twice", place->first), "keep one");
  }
  return request;
}

std::span<const std::string_view> schedule_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Entry& entry : table()) all.push_back(entry.name);
    return all;
  }();
  return names;
}

bool looks_at_costs(std::string_view name) {
  const auto entry = std::ranges::find(table(), name, &Entry::name);
  return entry != table().end() && entry->looks_at_costs;
}

int default_virtual_stages(std::string_view name) {
  const auto entry = std::ranges::find(table(), name, &Entry::name);
  return entry == table().end() ? 1 : entry->virtual_stages;
}

}  // namespace headrace
