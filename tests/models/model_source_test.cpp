#include "models/model_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "core/json/documents.h"
#include "models/model_catalogue.h"
#include "tests/support/model_builders.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

/// A file in a folder of its own, gone afterwards.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, std::string_view content) {
    std::string pattern = (fs::temp_directory_path() / "headrace-model-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    std::ofstream(path(name), std::ios::binary) << content;
  }
  ~TemporaryFile() { fs::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string folder() const { return folder_; }

 private:
  fs::path folder_;
};

constexpr std::string_view kSmallLlama =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
        "vocab_size": 1000, "tie_word_embeddings": false})";

void check_refused_unread(std::string_view start) {
  const TemporaryFile file("model.pt", std::string(start) + "garbage");
  const auto spec = resolve_model(file.path("model.pt"));
  REQUIRE_FALSE(spec.has_value());
  CHECK(exit_status(spec.error().code) == 2);
  CHECK(spec.error().where == file.path("model.pt"));
  CHECK(spec.error().what.find("refused unread") != std::string::npos);
}

}  // namespace

TEST_SUITE_BEGIN("models/model_source");

TEST_CASE("every shipped example can be read and counted") {
  const auto names = example_model_names();
  CHECK(names.size() >= 7);
  for (const std::string& name : names) {
    CAPTURE(name);
    const auto spec = resolve_model(name);
    REQUIRE_MESSAGE(spec.has_value(), to_string(spec.error()));
    CHECK(spec->name == name);
    CHECK(layers_of(*spec, 4, 0).has_value());
  }
}

TEST_CASE("the shipped gpt2 and encoder have their known parameter counts") {
  CHECK(parameter_count(resolve_model("gpt2").value()).value() == 124439808);
  CHECK(parameter_count(resolve_model("bert-base").value()).value() == 109482240);
  CHECK(parameter_count(resolve_model("encoder-4x512").value()).value() == 4 * 3152384);
}

TEST_CASE("a Hugging Face configuration is read from its file or its folder") {
  const TemporaryFile file("config.json", kSmallLlama);
  for (const std::string& path : {file.path("config.json"), file.folder()}) {
    const auto spec = resolve_model(path);
    REQUIRE(spec.has_value());
    CHECK(spec->name == fs::path(file.folder()).filename());
    CHECK(parameter_count(*spec).value() == 276032);
  }
}

TEST_CASE("our own description reads back what was written") {
  const TemporaryFile file("m.json", to_json(testing::tiny_gpt2()));
  CHECK(resolve_model(file.path("m.json")).value() == complete_spec(testing::tiny_gpt2()).value());
}

TEST_CASE("archives of code are refused unread with exit status 2") {
  check_refused_unread("PK\x03\x04");
  check_refused_unread("\x80\x02");
  check_refused_unread("\x1f\x8b");
}

TEST_CASE("a name that is neither file nor example lists the examples") {
  const auto spec = resolve_model("gpt-small-demi");
  REQUIRE_FALSE(spec.has_value());
  CHECK(spec.error().code == ErrorCode::kUsage);
  CHECK(spec.error().what ==
        "there is no file and no shipped example 'gpt-small-demi' (did you mean "
        "'gpt-small-demo'?)");
}

TEST_CASE("a file that is no model is bad input") {
  const TemporaryFile file("x.json", "[1, 2]");
  CHECK(resolve_model(file.path("x.json")).error().code == ErrorCode::kBadInput);
  const TemporaryFile empty("y.json", "");
  CHECK(resolve_model(empty.path("y.json")).error().code == ErrorCode::kBadInput);
}

TEST_SUITE_END();

}  // namespace headrace
