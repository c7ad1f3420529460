// `headrace whatif`: vary a plan, or stage times given as flags, and rank what comes out by time.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/text.h"
#include "report/what_if_text.h"
#include "simulator/what_if.h"
#include "tools/headrace/command.h"
#include "tools/headrace/documents.h"
#include "tools/headrace/variation.h"

namespace headrace::cli {
namespace {

struct WhatIfCommandOptions {
  std::string plan;
  std::vector<std::string> profiles;
  VariationBase base;
  std::vector<Change> changes;
  std::vector<Sweep> sweeps;
  std::string sort = "time";
  bool pareto_only = false;
  std::optional<double> sensitivity;
  std::optional<int> threads;
  std::string csv_file;
};

constexpr std::size_t kMostRows = 100'000;

int threads_of(const WhatIfCommandOptions& options) {
  return options.threads.value_or(
      static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

/// All combinations of the sweeps' values, the last sweep fastest.
std::vector<std::vector<std::string>> combinations(const std::vector<Sweep>& sweeps) {
  std::vector<std::vector<std::string>> rows = {{}};
  for (const Sweep& sweep : sweeps) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& row : rows) {
      for (const std::string& value : sweep.values) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

Result<void> check_sweeps(const WhatIfCommandOptions& options) {
  std::size_t rows = 1;
  std::set<std::string> keys;
  for (const Sweep& sweep : options.sweeps) {
    if (!keys.insert(sweep.key).second) {
      return Failure({.code = ErrorCode::kUsage,
                      .what = fmt::format("'{}' is swept twice", sweep.key),
                      .where = "--sweep",
                      .fix = "give all its values in one --sweep"});
    }
    rows *= sweep.values.size();
    if (rows <= kMostRows) continue;
    return Failure({.code = ErrorCode::kUsage,
                    .what = fmt::format("the sweeps have more than {} combinations", kMostRows),
                    .where = "--sweep",
                    .fix = "sweep fewer values at once"});
  }
  if (!options.sweeps.empty() || options.sensitivity) return {};
  return Failure({.code = ErrorCode::kUsage,
                  .what = "nothing is varied",
                  .where = "--sweep",
                  .fix = "add --sweep micro-batches=4,8,16, or --sensitivity 10%"});
}

std::string problem_text(const Error& error) {
  std::string text = error.where.empty() ? error.what : error.where + ": " + error.what;
  for (const BlockedAction& blocked : error.cycle) {
    text += fmt::format("; device {} {} waits for {}", blocked.device, blocked.action,
                        blocked.waits_for);
  }
  return text;
}

/// One row per combination, the plan as it is first, and its input where it is possible.
struct Rows {
  std::vector<WhatIfRow> rows;
  std::vector<SimulationInput> inputs;
  std::vector<std::size_t> row_of_input;
};

void add_row(const WhatIfCommandOptions& options, const std::vector<std::string>& values,
             std::vector<Change> changes, Rows& all) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    changes.push_back({.key = options.sweeps[k].key,
                       .value = values[k],
                       .multiplies = options.sweeps[k].multiplies});
  }
  WhatIfRow row{.values = values};
  auto varied = varied_input(options.base, changes);
  if (varied) {
    row.note = varied->note;
    all.row_of_input.push_back(all.rows.size());
    all.inputs.push_back(std::move(varied->input));
  } else {
    row.problem = problem_text(varied.error());
  }
  all.rows.push_back(std::move(row));
}

void sort_rows(const std::string& by, std::vector<WhatIfRow>& rows) {
  const auto goal = [&](const WhatIfResult& result) {
    if (by == "bubble") return result.bubble_ratio;
    if (by == "memory") {
      return result.peak_memory > Bytes{0} ? static_cast<double>(result.peak_memory.value())
                                           : result.peak_activations;
    }
    if (by == "traffic") {
      return result.traffic > Bytes{0} ? static_cast<double>(result.traffic.value())
                                       : static_cast<double>(result.messages);
    }
    return time_per_unit(result).value();
  };
  // What does not fit or has no result comes last, whatever its time.
  const auto order = [&](const WhatIfRow& row) {
    const int group = !row.result ? 2 : row.result->missing ? 1 : 0;
    return std::pair(group, row.result ? goal(*row.result) : 0.0);
  };
  std::ranges::stable_sort(rows.begin() + 1, rows.end(), {}, order);
}

void scale_stage(StageCost& stage, double factor) {
  stage.forward = stage.forward * factor;
  stage.backward = stage.backward * factor;
  if (stage.input_grad) *stage.input_grad = *stage.input_grad * factor;
  if (stage.weight_grad) *stage.weight_grad = *stage.weight_grad * factor;
}

/// The base with one thing longer, and its name.
void add_longer_parts(const SimulationInput& input, double share,
                      std::vector<SimulationInput>& inputs, std::vector<std::string>& names) {
  const int stages = input.schedule.stages / input.schedule.pipelines;
  for (int s = 0; s < stages; ++s) {
    SimulationInput longer = input;
    for (int copy = s; copy < input.schedule.stages; copy += stages) {
      scale_stage(longer.stages[static_cast<std::size_t>(copy)], 1 + share);
    }
    inputs.push_back(std::move(longer));
    names.push_back(fmt::format("stage {}", s));
  }
  for (int s = 0; s + 1 < stages; ++s) {
    const auto border = static_cast<std::size_t>(s);
    if (input.hop_forward[border] <= Seconds{0} && input.hop_backward[border] <= Seconds{0}) {
      continue;
    }
    SimulationInput longer = input;
    longer.hop_forward[border] = longer.hop_forward[border] * (1 + share);
    longer.hop_backward[border] = longer.hop_backward[border] * (1 + share);
    inputs.push_back(std::move(longer));
    names.push_back(fmt::format("messages between stages {} and {}", s, s + 1));
  }
}

/// Layers of the plan's own profile, each through the same way as --set layer.ID*=….
void add_longer_layers(const WhatIfCommandOptions& options, double share,
                       std::vector<SimulationInput>& inputs, std::vector<std::string>& names) {
  if (!options.base.plan) return;
  for (const Profile& profile : options.base.profiles) {
    if (profile.micro_batch_size != options.base.plan->micro_batch_size) continue;
    for (const Layer& layer : profile.graph.layers()) {
      std::vector<Change> changes = options.changes;
      changes.push_back(
          {.key = "layer." + layer.id, .value = fmt::format("{}", 1 + share), .multiplies = true});
      auto varied = varied_input(options.base, changes);
      if (!varied) continue;
      inputs.push_back(std::move(varied->input));
      names.push_back("layer " + layer.id);
    }
    return;
  }
}

Result<std::vector<Sensitivity>> sensitivities(const WhatIfCommandOptions& options,
                                               const SimulationInput& base) {
  std::vector<SimulationInput> inputs = {base};
  std::vector<std::string> names = {""};
  add_longer_parts(base, *options.sensitivity, inputs, names);
  add_longer_layers(options, *options.sensitivity, inputs, names);
  const auto results = evaluate(inputs, {.threads = threads_of(options), .detailed = false});
  if (!results.front()) return Failure(results.front().error());
  std::vector<Sensitivity> list;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (!results[i]) continue;
    list.push_back(
        {.what = names[i], .change = ratio(results[i]->iteration, results.front()->iteration) - 1});
  }
  std::ranges::stable_sort(list, std::ranges::greater{}, &Sensitivity::change);
  constexpr std::size_t kShown = 20;
  if (list.size() > kShown) list.resize(kShown);
  return list;
}

Result<WhatIf> answer(const WhatIfCommandOptions& options) {
  // What --set gets wrong is wrong for every row.
  if (const auto base = varied_input(options.base, options.changes);
      !base &&
      (base.error().code == ErrorCode::kUsage || base.error().code == ErrorCode::kBadInput)) {
    return Failure(base.error());
  }
  Rows all;
  add_row(options, {}, options.changes, all);
  if (!options.sweeps.empty()) {
    for (const auto& values : combinations(options.sweeps)) {
      add_row(options, values, options.changes, all);
    }
  }
  const auto results = evaluate(all.inputs, {.threads = threads_of(options)});
  for (std::size_t i = 0; i < results.size(); ++i) {
    WhatIfRow& row = all.rows[all.row_of_input[i]];
    if (results[i]) {
      row.result = *results[i];
    } else {
      row.problem = problem_text(results[i].error());
    }
  }
  if (std::ranges::none_of(all.rows, [](const WhatIfRow& row) { return row.result.has_value(); })) {
    return Failure({.code = ErrorCode::kInfeasible,
                    .what = fmt::format("no variation is possible; the plan as it is: {}",
                                        all.rows.front().problem),
                    .where = "--sweep",
                    .fix = "see what the plan alone says: headrace simulate"});
  }
  WhatIf what_if{.rows = std::move(all.rows)};
  for (const Sweep& sweep : options.sweeps) {
    what_if.keys.push_back(sweep.multiplies ? sweep.key + "*" : sweep.key);
  }
  if (options.sensitivity && !all.inputs.empty() && all.row_of_input.front() == 0) {
    auto list = sensitivities(options, all.inputs.front());
    if (!list) return Failure(list.error());
    what_if.sensitivity_share = *options.sensitivity;
    what_if.sensitivities = *std::move(list);
  }
  rank(what_if.rows);
  sort_rows(options.sort, what_if.rows);
  if (options.pareto_only) {
    std::erase_if(what_if.rows, [first = true](const WhatIfRow& row) mutable {
      const bool keep = std::exchange(first, false) || (row.result && row.result->pareto);
      return !keep;
    });
  }
  return what_if;
}

Result<void> run(WhatIfCommandOptions& options, const Console& console) {
  if (auto ok = check_sweeps(options); !ok) return ok;
  if (!options.plan.empty()) {
    if (const auto flag = given_stage_flag(options.base.times)) {
      return Failure({.code = ErrorCode::kUsage,
                      .what = "a plan has its own stages and times",
                      .where = *flag,
                      .fix = fmt::format("drop {} or PLAN", *flag)});
    }
    auto plan = read_plan(options.plan);
    if (!plan) return Failure(plan.error());
    auto profiles = profiles_of_plan(*plan, options.plan, options.profiles);
    if (!profiles) return Failure(profiles.error());
    options.base.plan = *std::move(plan);
    options.base.profiles = *std::move(profiles);
  }
  const auto what_if = answer(options);
  if (!what_if) return Failure(what_if.error());
  if (!options.csv_file.empty()) {
    auto ok = console.write_file(options.csv_file, what_if_csv(*what_if), "--csv");
    if (!ok) return ok;
  }
  return console.deliver(to_json(*what_if), what_if_text(*what_if));
}

ValueReader sweeps_into(std::vector<Sweep>& target) {
  return [&target](const std::string& text, const std::string& where) -> Result<void> {
    auto sweep = sweep_from_text(text, where);
    if (!sweep) return Failure(sweep.error());
    target.push_back(*std::move(sweep));
    return {};
  };
}

}  // namespace

Action whatif_command(Flags& flags) {
  auto options = std::make_shared<WhatIfCommandOptions>();
  flags.add_positional("PLAN", text_into(options->plan), "plan document; - is standard input",
                       false);
  flags.add_repeatable("--sweep", "KEY=LIST", sweeps_into(options->sweeps),
                       "values to try: micro-batches=4,8,16; several sweeps combine");
  flags.add_repeatable("--set", "KEY=VALUE", changes_into(options->changes),
                       "changes every row: link.0-1.gbps=25, stage.2.forward*=1.5");
  flags.add("--sort", "NAME", choice_into(options->sort, {"time", "bubble", "memory", "traffic"}),
            "time per sample (default), bubble, memory or traffic");
  flags.add_switch("--pareto", options->pareto_only,
                   "only rows that nothing beats in time, memory and traffic");
  flags.add("--sensitivity", "X", fraction_into(options->sensitivity),
            "what each stage, layer and link costs where it takes longer: 10%");
  flags.add_repeatable("--profile", "FILE", texts_into(options->profiles),
                       "of the plan's model, by micro-batch size and device (default: the plan's)");
  flags.add("--csv", "FILE", text_into(options->csv_file), "the table for a spreadsheet");
  flags.add("--threads", "N", count_into(options->threads), "default: all cores");
  add_schedule_flags(flags, options->base.schedule);
  add_stage_flags(flags, options->base.times);
  add_stage_detail_flags(flags, options->base.times);
  flags.begin_subject("keys of --sweep and --set");
  for (const KeyHelp& key : variation_keys()) flags.explain(key.key, key.meaning);
  flags.add_example(
      "headrace whatif --stages 4 --micro-batches 8 --forward 1ms --backward 2ms "
      "--sensitivity 10%");
  flags.add_example("headrace whatif plan.json --sweep schedule=gpipe,1f1b --sensitivity 10%");
  return [options](Console& console) { return run(*options, console); };
}

}  // namespace headrace::cli
