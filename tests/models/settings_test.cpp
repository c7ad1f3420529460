#include "models/settings.h"

#include <doctest/doctest.h>

namespace headrace {
namespace {

const std::vector<Setting>& kinds_of_settings() {
  static const std::vector<Setting> settings = {
      {.name = "width"},
      {.name = "window", .fallback = std::int64_t{0}, .minimum = 0},
      {.name = "depth", .derived = true},
      {.name = "scale", .kind = SettingKind::kNumber, .fallback = 0.5},
      {.name = "tied", .kind = SettingKind::kFlag, .fallback = true},
      {.name = "shape",
       .kind = SettingKind::kChoice,
       .fallback = "round",
       .choices = {"round", "flat"}}};
  return settings;
}

Result<ModelSpec> checked(std::map<std::string, SpecValue> values) {
  return check_settings({.family = "toy", .name = "t", .values = std::move(values)},
                        kinds_of_settings());
}

std::string complaint(const char* name, const SpecValue& value) {
  const auto spec = checked({{"width", std::int64_t{4}}, {name, value}});
  REQUIRE_FALSE(spec.has_value());
  CHECK(spec.error().code == ErrorCode::kBadInput);
  return to_string(spec.error());
}

}  // namespace

TEST_SUITE_BEGIN("models/settings");

TEST_CASE("what is left out gets its fallback unless the family derives it") {
  const auto spec = checked({{"width", std::int64_t{4}}});
  REQUIRE(spec.has_value());
  CHECK(size_of(*spec, "width") == 4);
  CHECK(size_of(*spec, "window") == 0);
  CHECK(number_of(*spec, "scale") == 0.5);
  CHECK(flag_of(*spec, "tied"));
  CHECK(choice_of(*spec, "shape") == "round");
  CHECK_FALSE(has_setting(*spec, "depth"));
}

TEST_CASE("a whole number serves as a number") {
  const auto spec = checked({{"width", std::int64_t{4}}, {"scale", std::int64_t{2}}});
  REQUIRE(spec.has_value());
  CHECK(number_of(*spec, "scale") == 2.0);
}

TEST_CASE("an unknown setting is named with what was probably meant") {
  CHECK(complaint("widt", std::int64_t{3}) ==
        "t: /widt: the family toy has no setting 'widt' (did you mean 'width'?)\n"
        "  fix: use only width, window, depth, scale, tied, shape");
}

TEST_CASE("a missing size is named") {
  const auto spec = checked({});
  REQUIRE_FALSE(spec.has_value());
  CHECK(to_string(spec.error()) ==
        "t: /width: width is missing\n  fix: add width to the model description");
}

TEST_CASE("values of the wrong type or out of range are refused") {
  CHECK(complaint("depth", std::int64_t{0}) ==
        "t: /depth: depth is 0\n  fix: set depth to a whole number from 1 to 2147483647");
  CHECK(complaint("window", std::int64_t{-1}).find("from 0 to 2147483647") != std::string::npos);
  CHECK(complaint("depth", std::int64_t{1} << 31).find("2147483648") != std::string::npos);
  CHECK(complaint("depth", 1.5).find("depth is 1.5") != std::string::npos);
  CHECK(complaint("scale", 0.0).find("a positive number") != std::string::npos);
  CHECK(complaint("scale", std::string("big")).find("'big'") != std::string::npos);
  CHECK(complaint("tied", std::int64_t{1}).find("true or false") != std::string::npos);
  CHECK(complaint("shape", std::string("square")).find("one of round, flat") != std::string::npos);
}

TEST_CASE("a chain has at most 65536 layers") {
  const std::vector<Setting> settings = {layer_count_setting("num_layers")};
  const auto with = [&](std::int64_t count) {
    return check_settings({.family = "toy", .name = {}, .values = {{"num_layers", count}}},
                          settings);
  };
  CHECK(with(65536).has_value());
  CHECK_FALSE(with(65537).has_value());
}

TEST_SUITE_END();

}  // namespace headrace
