#include "simulator/failures.h"

#include <cmath>

#include <doctest/doctest.h>

namespace headrace {
namespace {

using doctest::Approx;

FailureModel model() {
  return {.time_between_failures = Seconds{360000},
          .devices = 100,
          .checkpoint_interval = Seconds{600},
          .checkpoint_cost = Seconds{30},
          .restart_cost = Seconds{120}};
}

TEST_SUITE_BEGIN("simulator/failures");

TEST_CASE("the average is Daly's expectation") {
  // M = 3600: 3600 e^(120 / 3600) (e^(630 / 3600) - 1) = 711.73 s for 600 s of work.
  const double expected = 3600 * std::exp(120.0 / 3600) * std::expm1(630.0 / 3600) / 600;
  const Goodput result = goodput(Seconds{2}, model()).value();
  CHECK(result.effective_iteration.value() == Approx(2 * expected));
  CHECK(result.availability == Approx(1 / expected));
}

TEST_CASE("simulated runs agree with the expectation") {
  FailureModel failures = model();
  failures.run = Seconds{3e6};
  failures.replicas = 50;
  for (const double interval : {100.0, 600.0, 3000.0}) {
    failures.checkpoint_interval = Seconds(interval);
    const Goodput result = goodput(Seconds{2}, failures).value();
    CHECK(result.band.median.value() == Approx(result.effective_iteration.value()).epsilon(0.02));
    CHECK(result.band.low < result.band.median);
    CHECK(result.band.median < result.band.high);
  }
}

TEST_CASE("the best interval beats its neighbours and is near Young's") {
  FailureModel failures = model();
  failures.checkpoint_interval = Seconds{0};
  const Goodput best = goodput(Seconds{1}, failures).value();
  CHECK(best.best_interval == best.checkpoint_interval);
  CHECK(best.best_interval.value() == Approx(std::sqrt(2 * 30 * 3600.0)).epsilon(0.1));
  for (const double factor : {0.8, 0.95, 1.05, 1.25}) {
    failures.checkpoint_interval = best.best_interval * factor;
    CHECK(goodput(Seconds{1}, failures).value().availability < best.availability);
  }
}

TEST_CASE("free checkpoints are taken after every iteration") {
  FailureModel failures = model();
  failures.checkpoint_cost = Seconds{0};
  failures.checkpoint_interval = Seconds{0};
  CHECK(goodput(Seconds{5}, failures).value().checkpoint_interval == Seconds{5});
}

TEST_CASE("equal seeds give equal bands and others do not") {
  FailureModel failures = model();
  const Goodput first = goodput(Seconds{2}, failures).value();
  CHECK(goodput(Seconds{2}, failures).value() == first);
  failures.seed = 1;
  CHECK(goodput(Seconds{2}, failures).value().band != first.band);
}

TEST_CASE("a run that never comes forward is refused with the interval that would help") {
  FailureModel failures = model();
  failures.checkpoint_interval = Seconds{360000};
  const Error error = goodput(Seconds{2}, failures).error();
  CHECK(error.code == ErrorCode::kInfeasible);
  CHECK(error.fix.starts_with("checkpoint every "));
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
