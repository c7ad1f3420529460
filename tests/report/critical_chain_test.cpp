#include "report/critical_chain.h"

#include <random>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/simulation_builders.h"

using namespace headrace;
using headrace::testing::uniform_input;

TEST_SUITE_BEGIN("report/critical_chain");

namespace {

std::string names(const Timeline& timeline, const std::vector<std::size_t>& chain) {
  std::string text;
  for (const std::size_t i : chain) text += to_string(timeline.events[i].action) + " ";
  return text;
}

}  // namespace

TEST_CASE("the chain of one micro-batch goes down and up again") {
  const Timeline timeline = simulate(uniform_input("1f1b", 2, 1)).value().timeline;
  CHECK(names(timeline, critical_chain(timeline)) == "0F0 1F0 1B0 0B0 ");
}

TEST_CASE("a heavy stage holds the chain once it is reached") {
  //  0 | F0 F1 .            B0 .     B1
  //  1 | .  F0 -- B0 -- F1 -- B1 --
  auto input = uniform_input("1f1b", 2, 2);
  input.stages[1] = {.forward = Seconds{5}, .backward = Seconds{10}};
  const Timeline timeline = simulate(input).value().timeline;
  CHECK(names(timeline, critical_chain(timeline)) == "0F0 1F0 1B0 1F1 1B1 0B1 ");
}

TEST_CASE("durations and hops along the chain add up to the makespan") {
  std::mt19937_64 random(3);
  const auto some = [&] { return 1 + static_cast<double>(random() % 9); };
  for (int round = 0; round < 500; ++round) {
    const int stages = 1 + static_cast<int>(random() % 5);
    const std::string name = random() % 2 == 0 ? "1f1b" : "gpipe";
    auto input = uniform_input(name, stages, 1 + static_cast<int>(random() % 6), {.hop = some()});
    for (StageCost& stage : input.stages) {
      stage.forward = Seconds(some());
      stage.backward = Seconds(some());
    }
    const Timeline timeline = simulate(input).value().timeline;
    const auto chain = critical_chain(timeline);
    Seconds total = timeline.events[chain.front()].start;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      const TimelineEvent& event = timeline.events[chain[k]];
      total += event.end - event.start;
      if (k + 1 == chain.size()) continue;
      const TimelineEvent& next = timeline.events[chain[k + 1]];
      const Seconds gap = next.start - event.end;
      CHECK(gap == (next.device == event.device ? Seconds{0} : input.hop_forward[0]));
      total += gap;
    }
    INFO(round);
    CHECK(total == makespan_of(timeline));
  }
}

TEST_CASE("a timeline without compute has no chain") {
  CHECK(critical_chain(Timeline{}).empty());
}
