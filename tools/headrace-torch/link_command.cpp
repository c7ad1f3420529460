// headrace-torch link: measures the hop between two pinned processes of this host.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "core/cluster.h"
#include "core/files.h"
#include "core/json/documents.h"
#include "executor/host.h"
#include "executor/launcher.h"
#include "executor/link_probe.h"
#include "executor/torch/gloo_channel.h"
#include "tools/headrace-torch/command.h"
#include "tools/headrace-torch/link.h"
#include "tools/headrace-torch/store_address.h"

namespace headrace::worker {
namespace {

constexpr Seconds kTimeout{60};

struct LinkFlags {
  std::string out;
  std::string store;
  int rank = -1;
};

/// One end; rank 1, which sees the messages arrive, writes the result.
Result<void> run_end(const LinkFlags& flags) {
  const auto store = store_address(flags.store);
  if (!store) return Failure(store.error());
  const auto channel = make_gloo_channel({.store_host = store->host,
                                          .store_port = store->port,
                                          .rank = flags.rank,
                                          .world = 2,
                                          .serve_store = flags.rank == 0,
                                          .timeout = kTimeout});
  if (!channel) return Failure(channel.error());
  const auto cores = allowed_cores();
  const auto core = cores[static_cast<std::size_t>(flags.rank) % cores.size()];
  if (auto ok = pin_this_thread(core); !ok) return ok;
  const auto samples = measure_link(**channel, kTimeout);
  if (!samples) return Failure(samples.error());
  if (flags.rank == 0) return {};
  return write_text(flags.out, to_json(uniform_cluster(2, std::nullopt, fit_link(*samples))));
}

/// Starts both ends; the result is in the file.
Result<void> run_both_ends(const std::string& out) {
  const auto port = free_port();
  if (!port) return Failure(port.error());
  std::vector<Worker> ends;
  for (int rank = 0; rank < 2; ++rank) {
    ends.push_back(
        {.name = fmt::format("end {} of the link", rank),
         .arguments = {"/proc/self/exe", "link", "--store", fmt::format("127.0.0.1:{}", *port),
                       "--rank", std::to_string(rank), "--out", out}});
  }
  const auto ran = run_workers(ends, {.time_limit = kTimeout * 2});
  if (!ran) return Failure(ran.error());
  return {};
}

}  // namespace

Result<LinkSpeed> measured_link(const std::string& scratch_file) {
  auto ran = run_both_ends(scratch_file);
  const auto text = ran ? read_text(scratch_file) : Result<std::string>(Failure(ran.error()));
  std::remove(scratch_file.c_str());
  if (!text) return Failure(text.error());
  const auto cluster = cluster_from_json(*text, scratch_file);
  if (!cluster) return Failure(cluster.error());
  return cluster->intra_node;
}

Action link_command(CLI::App& app) {
  auto flags = std::make_shared<LinkFlags>();
  app.add_option("--out", flags->out, "File for a cluster of two devices with this link")
      ->required();
  app.add_option("--store", flags->store, "HOST:PORT, for one end only");
  app.add_option("--rank", flags->rank, "0 or 1, for one end only; both ends without");
  return [flags] { return flags->rank >= 0 ? run_end(*flags) : run_both_ends(flags->out); };
}

}  // namespace headrace::worker
