// Lets a script see documents as our readers and writers do. "write FOLDER" writes documents with
// random content, NAME-SEED.json; "read" takes lines "NAME<tab>JSON" and answers each with one
// line.
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "core/files.h"
#include "core/json/documents.h"
#include "tests/support/random_nouns.h"

namespace headrace::testing {
namespace {

constexpr int kSeeds = 12;

std::string random_document(std::string_view name, std::uint64_t seed) {
  NounMaker maker(seed, seed == 0);
  if (name == "profile") return to_json(maker.profile());
  if (name == "cluster") return to_json(maker.cluster());
  if (name == "plan") return to_json(maker.plan());
  if (name == "simulation") return to_json(maker.simulation());
  if (name == "timeline") return to_json(maker.timeline());
  if (name == "comparison") return to_json(maker.comparison());
  if (name == "whatif") return to_json(maker.what_if());
  if (name == "model") return to_json(maker.model());
  return to_json(maker.error());
}

template <typename Noun>
std::string verdict(const Result<Noun>& result) {
  return result.has_value() ? "accepted" : result.error().where + ": " + result.error().what;
}

std::string verdict_on(std::string_view name, std::string_view text) {
  if (name == "profile") return verdict(profile_from_json(text, name));
  if (name == "cluster") return verdict(cluster_from_json(text, name));
  if (name == "plan") return verdict(plan_from_json(text, name));
  if (name == "simulation") return verdict(simulation_from_json(text, name));
  if (name == "timeline") return verdict(timeline_from_json(text, name));
  if (name == "comparison") return verdict(comparison_from_json(text, name));
  if (name == "whatif") return verdict(what_if_from_json(text, name));
  if (name == "model") return verdict(model_from_json(text, name));
  return verdict(error_from_json(text, name));
}

int write_all(const std::string& folder) {
  for (const std::string_view name : schema_names()) {
    const std::string stem = folder + "/" + std::string(name);
    const auto schema = schema_text(name);
    if (!schema || !write_text(stem + ".schema.json", *schema)) return 1;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const std::string path = stem + "-" + std::to_string(seed) + ".json";
      if (!write_text(path, random_document(name, static_cast<std::uint64_t>(seed)))) return 1;
    }
  }
  return 0;
}

int read_all() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) return 1;
    std::cout << verdict_on(line.substr(0, tab), line.substr(tab + 1)) << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace headrace::testing

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "write" && argc == 3) return headrace::testing::write_all(argv[2]);
  if (mode == "read" && argc == 2) return headrace::testing::read_all();
  std::cerr << "usage: document_probe write FOLDER | read\n";
  return 2;
}
