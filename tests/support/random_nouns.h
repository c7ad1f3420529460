// Nouns with seeded random content: every field that a document holds gets a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/comparison.h"
#include "core/model_spec.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/simulation.h"
#include "core/timeline.h"
#include "core/what_if.h"

namespace headrace::testing {

/// Makes valid nouns. Equal seeds make equal nouns on every machine.
class NounMaker {
 public:
  /// With `full`, every optional part is present and every list has at least one element.
  explicit NounMaker(std::uint64_t seed, bool full = false) : random_(seed), full_(full) {}

  Profile profile();
  Cluster cluster();
  Plan plan();
  Simulation simulation();
  Timeline timeline();
  Comparison comparison();
  WhatIf what_if();
  ModelSpec model();
  Error error();

  int number(int low, int high);  ///< Both ends included.
  bool chance() { return full_ || number(0, 1) == 1; }

 private:
  std::string text();
  double fraction();    ///< In [0, 1), with all its bits.
  double any_number();  ///< Of either sign and many magnitudes.
  Seconds time();
  Seconds difference();
  Bytes bytes();
  BytesPerSecond bandwidth();
  LinkSpeed link();
  Duration duration(bool with_samples);
  MemoryItems memory_items();
  SpecValue setting();
  ModelInfo model_info();
  Action action(int stages, int microbatches);
  Layer layer(std::string id);
  ModelGraph graph();
  DeviceReport device_report();
  Band band();
  PlanStage stage(int index, const Cluster& cluster, const Parallel& parallel);

  template <typename T, typename Make>
  std::vector<T> list(const Make& make) {
    std::vector<T> values;
    for (int count = number(full_ ? 1 : 0, 4); count > 0; --count) values.push_back(make());
    return values;
  }

  std::mt19937_64 random_;
  bool full_;
};

}  // namespace headrace::testing
