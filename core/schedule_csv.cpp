#include "core/schedule_csv.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/schedule_messages.h"

namespace headrace {
namespace {

/// Where a cell stands, for messages; counts from 0 as ranks and torch do.
struct Cell {
  std::string_view source;
  std::size_t rank;
  std::size_t step;
};

Failure bad_cell(const Cell& cell, std::string what, std::string fix) {
  return Failure({.code = ErrorCode::kBadInput,
                  .what = std::move(what),
                  .where = fmt::format("{}: rank {} step {}", cell.source, cell.rank, cell.step),
                  .fix = std::move(fix)});
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// torch 2.5: "3B1" is the input gradient, "3BW1" the whole backward.
std::optional<Action> action_in_dialect(std::string_view text, CsvDialect dialect) {
  if (dialect == CsvDialect::kTorch26) return action_from_text(text);
  const std::size_t letter = text.find_first_not_of("0123456789");
  if (letter == std::string_view::npos) return std::nullopt;
  std::string modern(text);
  if (text.substr(letter, 2) == "BW") {
    modern.erase(letter + 1, 1);
  } else if (text[letter] == 'B') {
    modern[letter] = 'I';
  } else if (text[letter] == 'I') {
    return std::nullopt;
  }
  return action_from_text(modern);
}

Result<Action> read_action(std::string_view text, const Cell& cell, CsvDialect dialect) {
  if (const auto action = action_in_dialect(text, dialect)) return *action;
  return bad_cell(cell, fmt::format("'{}' is no action", text),
                  "write <stage><F|B|I|W|SEND_F|…><micro-batch>, e.g. 0F3");
}

/// Appends the cell's one or two actions to `row`.
Result<void> read_cell(std::string_view text, const Cell& cell, CsvDialect dialect,
                       std::vector<Action>& row) {
  constexpr std::string_view kOverlapEnd = ")OVERLAP_F_B";
  if (!text.starts_with('(')) {
    const auto action = read_action(text, cell, dialect);
    if (!action) return Failure(action.error());
    row.push_back(*action);
    return {};
  }
  const bool closed = text.ends_with(kOverlapEnd);
  const auto parts = split(text.substr(1, closed ? text.size() - 1 - kOverlapEnd.size() : 0), ';');
  if (!closed || parts.size() != 2) {
    return bad_cell(cell, fmt::format("'{}' is no overlap of two actions", text),
                    "write (0F7;7B3)OVERLAP_F_B");
  }
  for (const std::string_view part : parts) {
    auto action = read_action(trimmed(part), cell, dialect);
    if (!action) return Failure(action.error());
    if (!is_compute(action->kind)) {
      return bad_cell(cell, fmt::format("'{}' overlaps something that is no F, B, I or W", text),
                      "write (0F7;7B3)OVERLAP_F_B");
    }
    action->overlaps_next = part.data() == parts.front().data();
    row.push_back(*action);
  }
  return {};
}

/// Sets the counts and the stage -> rank map from what stands in the rows.
Result<void> infer_shape(Schedule& schedule, std::string_view source) {
  schedule.devices = static_cast<int>(schedule.rows.size());
  int top_stage = -1;
  int top_microbatch = -1;
  std::size_t actions = 0;
  for (const auto& row : schedule.rows) {
    actions += row.size();
    for (const Action& action : row) {
      top_stage = std::max(top_stage, number_of(action.stage));
      top_microbatch = std::max(top_microbatch, number_of(action.microbatch));
    }
  }
  const auto too_large = [&](std::string_view what, int number) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = fmt::format("{} {} with only {} actions in the file: some are missing",
                                        what, number, actions),
                    .where = std::string(source),
                    .fix = "every stage runs every micro-batch exactly once"});
  };
  // A stage has at least one action per micro-batch, so far larger numbers cannot be complete; this
  // keeps "999999999F0" from asking for memory. Small gaps are left to `validate`, which names
  // them.
  constexpr std::size_t kSlack = 16;
  const std::size_t most = kSlack * actions;
  if (static_cast<std::size_t>(top_stage) >= most) return too_large("stage", top_stage);
  if (static_cast<std::size_t>(top_microbatch) >= most) {
    return too_large("micro-batch", top_microbatch);
  }
  if ((static_cast<std::size_t>(top_stage) + 1) * (static_cast<std::size_t>(top_microbatch) + 1) >
      most) {
    return too_large("stage and micro-batch up to", std::max(top_stage, top_microbatch));
  }
  schedule.stages = top_stage + 1;
  schedule.microbatches = top_microbatch + 1;
  constexpr DeviceId kNowhere{-1};
  schedule.device_of_stage.assign(static_cast<std::size_t>(schedule.stages), kNowhere);
  for (std::size_t rank = 0; rank < schedule.rows.size(); ++rank) {
    for (const Action& action : schedule.rows[rank]) {
      DeviceId& device = schedule.device_of_stage[index_of(action.stage)];
      if (device == kNowhere) device = DeviceId{static_cast<int>(rank)};
    }
  }
  const auto unplaced = std::ranges::find(schedule.device_of_stage, kNowhere);
  if (unplaced != schedule.device_of_stage.end()) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = fmt::format("stage {} appears in no row, stage {} does",
                                        unplaced - schedule.device_of_stage.begin(), top_stage),
                    .where = std::string(source),
                    .fix = "number the stages 0 to S - 1 without gaps"});
  }
  return {};
}

/// A stage whose micro-batches are all others than those of the stage before starts a replica of
/// the model. Uneven replicas are left to `validate`.
void infer_pipelines(Schedule& schedule) {
  std::vector<MicrobatchRange> ranges(static_cast<std::size_t>(schedule.stages),
                                      {.first = schedule.microbatches, .end = 0});
  for (const std::vector<Action>& row : schedule.rows) {
    for (const Action& action : row) {
      if (action.kind != ActionKind::kForward) continue;
      MicrobatchRange& range = ranges[index_of(action.stage)];
      range.first = std::min(range.first, number_of(action.microbatch));
      range.end = std::max(range.end, number_of(action.microbatch) + 1);
    }
  }
  int pipelines = 1;
  for (std::size_t s = 1; s < ranges.size(); ++s) {
    if (ranges[s].first < ranges[s].end && ranges[s].first == ranges[s - 1].end) ++pipelines;
  }
  if (schedule.stages % pipelines == 0) schedule.pipelines = pipelines;
}

/// The rows of the file; trailing blank lines are no rows.
std::vector<std::string_view> rows_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  while (!lines.empty() && trimmed(lines.back()).empty()) lines.pop_back();
  return lines;
}

}  // namespace

Result<Schedule> schedule_from_csv(std::string_view text, std::string_view source,
                                   CsvDialect dialect) {
  Schedule schedule;
  schedule.name = "csv";
  std::optional<Cell> first_blank;
  const std::vector<std::string_view> lines = rows_of(text);
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    std::vector<Action>& row = schedule.rows.emplace_back();
    const std::vector<std::string_view> cells = split(lines[rank], ',');
    for (std::size_t step = 0; step < cells.size(); ++step) {
      const Cell cell{source, rank, step};
      const std::string_view content = trimmed(cells[step]);
      if (content.empty()) {
        if (!first_blank) first_blank = cell;
        continue;
      }
      if (auto ok = read_cell(content, cell, dialect, row); !ok) return Failure(ok.error());
    }
  }
  if (std::ranges::all_of(schedule.rows, &std::vector<Action>::empty)) {
    return Failure({.code = ErrorCode::kBadInput,
                    .what = "no action in the file",
                    .where = std::string(source),
                    .fix = "give one row of actions per rank"});
  }
  if (first_blank && has_communication(schedule)) {
    return bad_cell(*first_blank, "a blank cell in a file with sends and receives",
                    "remove the blank cell, or all SEND_/RECV_ cells");
  }
  if (auto ok = infer_shape(schedule, source); !ok) return Failure(ok.error());
  infer_pipelines(schedule);
  auto ok = validate(schedule);
  if (ok) ok = validate_messages(schedule);
  if (!ok) {
    Error error = ok.error();
    error.where = fmt::format("{}: {}", source, error.where);
    return Failure(std::move(error));
  }
  return schedule;
}

std::string to_csv(const Schedule& schedule) {
  std::string text;
  for (const std::vector<Action>& row : schedule.rows) {
    for (std::size_t step = 0; step < row.size(); ++step) {
      if (step > 0) text += ',';
      if (row[step].overlaps_next) {
        text += fmt::format("({};{})OVERLAP_F_B", to_string(row[step]), to_string(row[step + 1]));
        ++step;
      } else {
        text += to_string(row[step]);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace headrace
