#include "executor/torch/torch_run.h"

#include <algorithm>
#include <span>
#include <utility>

#include <ATen/Parallel.h>
#include <fmt/core.h>

#include "core/json/documents.h"
#include "core/schedule_csv.h"
#include "core/sha256.h"
#include "executor/collectives.h"
#include "executor/runtime.h"
#include "executor/torch/numerics.h"
#include "executor/torch/torch_backend.h"

namespace headrace {
namespace {

Failure bad_request(ErrorCode code, std::string where, std::string what, std::string fix) {
  return Failure(
      {.code = code, .what = std::move(what), .where = std::move(where), .fix = std::move(fix)});
}

Result<void> check_request(const TorchRunRequest& request) {
  if (auto ok = validate(request.schedule); !ok) return ok;
  if (static_cast<std::size_t>(request.schedule.stages) != request.plan.stages.size()) {
    return bad_request(ErrorCode::kBadInput, "plan: /stages",
                       fmt::format("the plan has {} stages, the schedule {}",
                                   request.plan.stages.size(), request.schedule.stages),
                       "use a schedule for as many stages as the plan has");
  }
  if (request.options.iterations < 1 || request.options.warmup < 0) {
    return bad_request(ErrorCode::kUsage, "--iterations",
                       fmt::format("{} iterations after {} of warm-up", request.options.iterations,
                                   request.options.warmup),
                       "measure at least one iteration");
  }
  if (request.numerics && !trains(request.schedule)) {
    return bad_request(ErrorCode::kUsage, "--numerics",
                       "the schedule has no backward, so there are no gradients to compare",
                       "leave out --numerics");
  }
  return {};
}

/// Ranks that were given different plans would wait for each other for ever.
Result<void> check_equal_requests(const TorchRunRequest& request, Channel& channel) {
  const std::string mine = sha256_hex(fmt::format("{}\n{}\n{} {} {} {} {}", to_json(request.plan),
                                                  to_csv(request.schedule), request.options.warmup,
                                                  request.options.iterations, request.optimizer,
                                                  request.seed, request.numerics));
  const auto all = gather_bytes(channel, std::as_bytes(std::span(mine)), request.options.timeout);
  if (!all) return Failure(all.error());
  for (std::size_t rank = 1; rank < all->size(); ++rank) {
    if (std::ranges::equal((*all)[rank], (*all)[0])) continue;
    return bad_request(ErrorCode::kBadInput, fmt::format("rank {}", rank),
                       "was given another plan, schedule or option than rank 0",
                       "start all ranks with the same files and flags");
  }
  return {};
}

std::string optimizer_of(const TorchRunRequest& request) {
  if (!request.optimizer.empty()) return request.optimizer;
  return request.plan.optimizer.empty() ? "sgd" : request.plan.optimizer;
}

std::string sentence_of(const NumericsReport& report) {
  return fmt::format(
      "numerics: loss {:.9g} and {} gradients agree with the unsplit model within {:.0e}; largest "
      "relative difference {:.1e} ({})",
      report.loss, report.parameters, report.limit, report.worst.difference,
      report.worst.parameter);
}

/// All iterations and what is learned from them.
Result<TorchRunOutcome> run_iterations(const TorchRunRequest& request, const RunModel& model,
                                       TorchBackend& backend, Channel& channel) {
  TorchRunOutcome outcome;
  const auto after_iteration = [&](int iteration) -> Result<void> {
    if (!request.numerics || iteration != 0) return {};
    const auto report =
        check_numerics(model, request.schedule, backend, channel, request.options.timeout);
    if (!report) return Failure(report.error());
    backend.forget_first_gradients();
    if (channel.rank() == 0) outcome.numerics = sentence_of(*report);
    return {};
  };
  const auto record = run_device({.schedule = request.schedule,
                                  .backend = backend,
                                  .channel = channel,
                                  .options = request.options,
                                  .after_iteration = after_iteration});
  if (!record) return Failure(record.error());
  const auto records = gather_records(channel, *record, request.options.timeout);
  if (!records) return Failure(records.error());
  if (channel.rank() == 0) {
    outcome.timeline = timeline_of(*records, request.schedule, TimelineSource::kMeasured);
  }
  // Rank 0 serves the store and must outlive the others' last word.
  if (auto ok = barrier(channel, request.options.timeout); !ok) return Failure(ok.error());
  return outcome;
}

}  // namespace

Result<TorchRunOutcome> run_torch_rank(const TorchRunRequest& request, Channel& channel) {
  if (auto ok = check_request(request); !ok) return Failure(ok.error());
  const auto model = run_model_of(request.plan, request.seed);
  if (!model) return Failure(model.error());
  if (auto ok = check_equal_requests(request, channel); !ok) return Failure(ok.error());
  at::set_num_threads(1);  // One core a stage, as the profile was measured.
  const auto backend = TorchBackend::make(*model, request.schedule, channel,
                                          {.optimizer = optimizer_of(request),
                                           .keep_first_gradients = request.numerics,
                                           .timeout = request.options.timeout});
  if (!backend) return Failure(backend.error());

  auto outcome = run_iterations(request, *model, **backend, channel);
  // Messages may still be on their way into tensors that are about to go.
  if (!outcome) channel.close();
  return outcome;
}

}  // namespace headrace
