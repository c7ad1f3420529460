// Simulation documents.
#include <fmt/core.h>

#include "core/json/document.h"
#include "core/json/documents.h"
#include "core/json/simulation_fields.h"

namespace headrace {
namespace {

template <typename At>
void describe_document(At& at, Of<Simulation> auto& simulation) {
  describe_summary(at, simulation);
  at.list("per_device", simulation.per_device, [](auto& device_at, auto& device, int index) {
    device_at.derived("device", index);
    describe(device_at, device);
  });
  describe_band_and_path(at, simulation);
}

void check_devices(const Place& root, const Simulation& simulation) {
  const std::size_t listed = simulation.per_device.size();
  if (listed == 0 || listed == static_cast<std::size_t>(simulation.devices)) return;
  Place(root, "per_device")
      .fail(fmt::format("{} devices are listed, there are {}", listed, simulation.devices),
            "list every device, or none");
}

}  // namespace

Result<Simulation> simulation_from_json(std::string_view text, std::string_view source) {
  return read_document<Simulation>(text, source, "simulation",
                                   [](ObjectReader& document, Simulation& simulation) {
                                     describe_document(document, simulation);
                                     document.finish();
                                     check_devices(document.place(), simulation);
                                   });
}

std::string to_json(const Simulation& simulation) {
  ObjectWriter document = started_document("simulation");
  describe_document(document, simulation);
  return document_text(std::move(document));
}

}  // namespace headrace
