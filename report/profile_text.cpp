// A profile for people: where it comes from, one row per layer, totals.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "core/text.h"
#include "report/table.h"
#include "report/text_report.h"

namespace headrace {
namespace {

constexpr std::size_t kMostRows = 40;  // more layers than this are counted, not listed

std::string heading(const Profile& profile) {
  std::string text = fmt::format("{}: {} layers", terminal_text(profile.model.name),
                                 profile.graph.layers().size());
  if (profile.model.parameters > 0)
    text += fmt::format(", {} parameters", profile.model.parameters);
  text += fmt::format("\ndevice: {}", terminal_text(profile.device.kind));
  if (!profile.device.name.empty())
    text += fmt::format(" ({})", terminal_text(profile.device.name));
  text += fmt::format(", {}, micro-batch of {}", terminal_text(profile.dtype),
                      profile.micro_batch_size);
  if (profile.sequence_length > 0) text += fmt::format(", sequence of {}", profile.sequence_length);
  return text + "\n";
}

std::string spread_text(const Duration& duration) {
  if (!(duration.mean > Seconds{0})) return "-";
  return percent_text(ratio(duration.stddev, duration.mean));
}

/// The start of a long description: some importers' kinds are whole constructor calls.
std::string shortened(const std::string& kind) {
  constexpr std::size_t kMost = 28;
  return kind.size() <= kMost ? kind : kind.substr(0, kMost - 3) + "...";
}

TableRow layer_row(const Layer& layer) {
  const Bytes state = layer.parameters + layer.gradients + layer.optimizer;
  return {layer.id,
          shortened(layer.kind),
          to_text(layer.forward.mean),
          to_text(layer.backward.mean),
          layer.input_grad ? to_text(layer.input_grad->mean) : "-",
          layer.weight_grad ? to_text(layer.weight_grad->mean) : "-",
          spread_text(layer.forward),
          to_text(state),
          to_text(layer.saved_activation),
          to_text(layer.output),
          layer.same_as.empty() ? std::string(name_of(layer.origin)) : "as " + layer.same_as};
}

}  // namespace

std::string profile_text(const Profile& profile) {
  std::vector<TableRow> rows = {{"layer", "kind", "forward", "backward", "input grad",
                                 "weight grad", "spread", "state", "saved", "output", "origin"}};
  Layer total{.id = "total", .kind = ""};
  Bytes state{0};
  for (const Layer& layer : profile.graph.layers()) {
    if (rows.size() <= kMostRows) rows.push_back(layer_row(layer));
    total.forward = total.forward + layer.forward;
    total.backward = total.backward + layer.backward;
    state += layer.parameters + layer.gradients + layer.optimizer;
    total.saved_activation += layer.saved_activation;
  }
  const std::size_t hidden = profile.graph.layers().size() - (rows.size() - 1);
  if (hidden > 0) rows.push_back({fmt::format("({} more)", hidden)});
  rows.push_back({"total", "", to_text(total.forward.mean), to_text(total.backward.mean), "", "",
                  "", to_text(state), to_text(total.saved_activation)});
  std::string text = heading(profile) + table_text(rows, 2);
  if (profile.link) {
    text += fmt::format("link: {} + bytes / {}\n", to_text(profile.link->latency),
                        to_text(profile.link->bandwidth));
  }
  if (profile.optimizer_step.mean > Seconds{0}) {
    text += fmt::format("{} step of the whole model: {}\n", terminal_text(profile.optimizer),
                        to_text(profile.optimizer_step.mean));
  }
  return text;
}

}  // namespace headrace
